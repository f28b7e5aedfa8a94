"""The public names of JAX's modules, and what a module says of one that is not here yet."""

from __future__ import annotations

VERSION = "0.12.0"  # the JAX whose names these are

NAMES: dict[str, str] = {
    "": (
        "Array CompilerEffortLevel Device Inline NamedSharding P Ref ShapeDtypeStruct Shard "
        "allow_f16_reductions array_garbage_collection_guard auto_pcast block_until_ready "
        "check_tracer_leaks checking_leaks checkpoint checkpoint_policies clear_caches "
        "closure_convert config copy_to_host_async custom_batching custom_derivatives "
        "custom_gradient custom_jvp custom_vjp debug debug_infs debug_key_reuse debug_nans "
        "default_backend default_device default_matmul_precision default_prng_impl device_count "
        "device_get device_put devices disable_jit distributed dlpack ds effects_barrier "
        "empty_ref enable_checks enable_custom_prng enable_x64 ensure_compile_time_eval errors "
        "eval_shape experimental explain_cache_misses export ffi float0 free_ref freeze "
        "fwd_and_bwd get_abstract_mesh get_mesh grad hessian host_count host_id host_ids image "
        "jacfwd jacobian jacrev jax2tf_associative_scan_reductions jit jvp lax legacy_prng_key "
        "linear_transpose linearize live_arrays local_device_count local_devices log_compiles "
        "make_array_from_callback make_array_from_process_local_data "
        "make_array_from_single_device_arrays make_jaxpr make_mesh make_user_context memory "
        "monitoring named_call named_scope new_ref nn no_execution no_tracing numpy "
        "numpy_dtype_promotion numpy_rank_promotion ops pmap print_environment_info "
        "process_count process_index process_indices profiler pure_callback random ref remat "
        "remove_size_one_mesh_axis_from_type reshard scipy set_mesh shard_map sharding smap "
        "softmax_custom_jvp stages thread_guard threefry_partitionable transfer_guard "
        "transfer_guard_device_to_device transfer_guard_device_to_host "
        "transfer_guard_host_to_device tree tree_util typeof typing use_abstract_mesh "
        "value_and_grad vjp vmap"
    ),
    "lax": (
        "AccuracyMode ConvDimensionNumbers ConvGeneralDilatedDimensionNumbers DotAlgorithm "
        "DotAlgorithmPreset DotDimensionNumbers FftType GatherDimensionNumbers "
        "GatherScatterMode Precision PrecisionLike RaggedDotDimensionNumbers RandomAlgorithm "
        "RoundingMethod ScatterDimensionNumbers Tolerance abs acos acosh add after_all "
        "all_gather all_to_all approx_max_k approx_min_k argmax argmin asin asinh "
        "associative_scan atan atan2 atanh axis_index axis_size batch_matmul bessel_i0e "
        "bessel_i1e betainc bitcast_convert_type bitwise_and bitwise_not bitwise_or bitwise_xor "
        "broadcast broadcast_in_dim broadcast_like broadcast_shapes broadcast_to_rank "
        "broadcasted_iota cbrt ceil clamp clz collapse complex composite concatenate cond conj "
        "conv conv_dimension_numbers conv_general_dilated conv_general_dilated_local "
        "conv_general_dilated_patches conv_general_permutations conv_general_shape_tuple "
        "conv_shape_tuple conv_transpose conv_transpose_shape_tuple conv_with_general_padding "
        "convert_element_type cos cosh create_token cumlogsumexp cummax cummin cumprod cumsum "
        "custom_linear_solve custom_root dce_sink digamma div dot dot_general dtype "
        "dynamic_index_in_dim dynamic_slice dynamic_slice_in_dim dynamic_update_index_in_dim "
        "dynamic_update_slice dynamic_update_slice_in_dim empty eq erf erf_inv erfc exp exp2 "
        "expand_dims expm1 fft floor fori_loop full full_like gather ge gt igamma igamma_grad_a "
        "igammac imag index_in_dim index_take integer_pow iota is_finite le lgamma linalg log "
        "log1p log2 logistic lt map max min mul mulhi ne neg nextafter one_minus_square "
        "optimization_barrier pad padtype_to_pads pbroadcast pcast platform_dependent pmax "
        "pmean pmin polygamma polynomial population_count pow ppermute pshuffle psum "
        "psum_scatter psum_scatter_start pswapaxes ragged_all_to_all ragged_dot "
        "ragged_dot_general random_gamma_grad real reciprocal reduce reduce_and reduce_max "
        "reduce_min reduce_or reduce_precision reduce_prod reduce_sum reduce_window "
        "reduce_window_shape_tuple reduce_xor rem reshape rev rng_bit_generator rng_uniform "
        "round rsqrt scaled_dot scan scatter scatter_add scatter_apply scatter_max scatter_min "
        "scatter_mul scatter_sub select select_n shape_as_value shift_left "
        "shift_right_arithmetic shift_right_logical sign sin sinh slice slice_in_dim sort "
        "sort_key_val split sqrt square squeeze stack stage stop_gradient sub switch tan tanh "
        "tile top_k transpose unstack while_loop with_sharding_constraint zeta"
    ),
    "lax.linalg": (
        "cholesky cholesky_update eig eigh EighImplementation EigImplementation hessenberg "
        "householder_product lu lu_pivots_to_permutation ormqr qdwh qr schur svd SvdAlgorithm "
        "symmetric_product triangular_solve tridiagonal tridiagonal_solve"
    ),
    "nn": (
        "celu dot_product_attention elu gelu get_scaled_dot_general_config glu hard_sigmoid "
        "hard_silu hard_swish hard_tanh identity initializers leaky_relu log1mexp log_sigmoid "
        "log_softmax logmeanexp logsumexp mish one_hot relu relu6 scaled_dot_general "
        "scaled_matmul selu sigmoid silu soft_sign softmax softplus sparse_plus sparse_sigmoid "
        "squareplus standardize swish tanh"
    ),
    "nn.initializers": (
        "Initializer constant delta_orthogonal glorot_normal glorot_uniform he_normal "
        "he_uniform kaiming_normal kaiming_uniform lecun_normal lecun_uniform normal ones "
        "orthogonal truncated_normal uniform variance_scaling xavier_normal xavier_uniform "
        "zeros"
    ),
    "numpy": (
        "ComplexWarning abs absolute acos acosh add all allclose amax amin angle any append "
        "apply_along_axis apply_over_axes arange arccos arccosh arcsin arcsinh arctan arctan2 "
        "arctanh argmax argmin argpartition argsort argwhere around array array_equal "
        "array_equiv array_repr array_split array_str asarray asin asinh astype atan atan2 "
        "atanh atleast_1d atleast_2d atleast_3d average bartlett bfloat16 bincount bitwise_and "
        "bitwise_count bitwise_invert bitwise_left_shift bitwise_not bitwise_or "
        "bitwise_right_shift bitwise_xor blackman block bool bool_ broadcast_arrays "
        "broadcast_shapes broadcast_to c_ can_cast cbrt cdouble ceil character choose clip "
        "column_stack complex128 complex64 complex_ complexfloating compress concat concatenate "
        "conj conjugate convolve copy copysign corrcoef correlate cos cosh count_nonzero cov "
        "cross csingle cumprod cumsum cumulative_prod cumulative_sum deg2rad degrees delete "
        "diag diag_indices diag_indices_from diagflat diagonal diff digitize divide divmod dot "
        "double dsplit dstack dtype e ediff1d einsum einsum_path empty empty_like equal "
        "euler_gamma exp exp2 expand_dims expm1 extract eye fabs fft fill_diagonal finfo "
        "flatnonzero flexible flip fliplr flipud float16 float32 float4_e2m1fn float64 "
        "float6_e2m3fn float6_e3m2fn float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn "
        "float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu float_ float_power floating "
        "floor floor_divide fmax fmin fmod frexp from_dlpack frombuffer fromfile fromfunction "
        "fromiter frompyfunc fromstring full full_like gcd generic geomspace get_printoptions "
        "gradient greater greater_equal hamming hanning heaviside histogram histogram2d "
        "histogram_bin_edges histogramdd hsplit hstack hypot i0 identity iinfo imag index_exp "
        "indices inexact inf inner insert int1 int16 int2 int32 int4 int64 int8 int_ integer "
        "interp intersect1d invert isclose iscomplex iscomplexobj isdtype isfinite isin isinf "
        "isnan isneginf isposinf isreal isrealobj isscalar issubdtype iterable ix_ kaiser kron "
        "lcm ldexp left_shift less less_equal lexsort linalg linspace load log log10 log1p log2 "
        "logaddexp logaddexp2 logical_and logical_not logical_or logical_xor logspace "
        "mask_indices matmul matrix_transpose matvec max maximum mean median meshgrid mgrid min "
        "minimum minmax mod modf moveaxis multiply nan nan_to_num nanargmax nanargmin "
        "nancumprod nancumsum nanmax nanmean nanmedian nanmin nanpercentile nanprod nanquantile "
        "nanstd nansum nanvar ndarray ndim negative newaxis nextafter nonzero not_equal number "
        "object_ ogrid ones ones_like outer packbits pad partition percentile permute_dims pi "
        "piecewise place poly polyadd polyder polydiv polyfit polyint polymul polysub polyval "
        "positive pow power printoptions prod promote_types ptp put put_along_axis quantile r_ "
        "rad2deg radians ravel ravel_multi_index real reciprocal remainder repeat reshape "
        "resize result_type right_shift rint roll rollaxis roots rot90 round s_ save savez "
        "searchsorted select set_printoptions setdiff1d setxor1d shape sign signbit "
        "signedinteger sin sinc single sinh size sort sort_complex spacing split sqrt square "
        "squeeze stack std subtract sum swapaxes take take_along_axis tan tanh tensordot tile "
        "top_k trace transpose trapezoid tri tril tril_indices tril_indices_from trim_zeros "
        "triu triu_indices triu_indices_from true_divide trunc ufunc uint uint1 uint16 uint2 "
        "uint32 uint4 uint64 uint8 union1d unique unique_all unique_counts unique_inverse "
        "unique_values unpackbits unravel_index unsignedinteger unstack unwrap vander var vdot "
        "vecdot vecmat vectorize vsplit vstack where zeros zeros_like"
    ),
    "numpy.fft": (
        "fft fft2 fftfreq fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft irfft irfft2 "
        "irfftn rfft rfft2 rfftfreq rfftn"
    ),
    "numpy.linalg": (
        "cholesky cond cross det diagonal eig eigh eigvals eigvalsh inv lstsq matmul "
        "matrix_norm matrix_power matrix_rank matrix_transpose multi_dot norm outer pinv qr "
        "slogdet solve svd svdvals tensordot tensorinv tensorsolve trace vecdot vector_norm"
    ),
    "random": (
        "Key PRNGKey ball bernoulli beta binomial bits categorical cauchy chisquare choice "
        "clone dirichlet double_sided_maxwell exponential f fold_in gamma generalized_normal "
        "geometric gumbel key key_data key_dtype key_impl laplace loggamma logistic lognormal "
        "maxwell multinomial multivariate_normal normal orthogonal pareto permutation poisson "
        "rademacher randint random_gamma_p rayleigh split t triangular truncated_normal uniform "
        "wald weibull_min wrap_key_data"
    ),
    "tree": (
        "all broadcast flatten flatten_with_path leaves leaves_with_path map map_with_path "
        "reduce reduce_associative static structure transpose unflatten"
    ),
    "tree_util": (
        "DictKey FlattenedIndexKey GetAttrKey KeyEntry KeyPath Partial PyTreeDef SequenceKey "
        "all_leaves default_registry flatten_one_level flatten_one_level_with_keys is_tree_node "
        "keystr register_dataclass register_pytree_node register_pytree_node_class "
        "register_pytree_with_keys register_pytree_with_keys_class register_static tree_all "
        "tree_broadcast tree_flatten tree_flatten_with_path tree_leaves tree_leaves_with_path "
        "tree_map tree_map_with_path tree_reduce tree_reduce_associative tree_structure "
        "tree_transpose tree_unflatten treedef_children treedef_is_leaf treedef_tuple"
    ),
    "custom_batching": "custom_vmap sequential_vmap",
    "custom_derivatives": (
        "closure_convert custom_gradient custom_jvp custom_jvp_call_p custom_vjp "
        "custom_vjp_call_p custom_vjp_primal_tree_values CustomVJPPrimal linear_call "
        "remat_opt_p SymbolicZero zero_from_primal"
    ),
    "debug": (
        "breakpoint callback DebugEffect inspect_array_sharding log OrderedDebugEffect print "
        "visualize_array_sharding visualize_sharding"
    ),
    "dlpack": "from_dlpack is_supported_dtype",
    "dtypes": (
        "bfloat16 canonicalize_dtype extended finfo float0 iinfo issubdtype itemsize_bits "
        "prng_key result_type scalar_type_of TypePromotionError"
    ),
    "errors": (
        "ConcretizationTypeError InconclusiveDimensionOperation JAXIndexError JaxprTypeError "
        "JaxRuntimeError JAXTypeError KeyReuseError NonConcreteBooleanIndexError "
        "TracerArrayConversionError TracerBoolConversionError TracerIntegerConversionError "
        "UnexpectedTracerError"
    ),
    "flatten_util": "ravel_pytree",
    "image": "resize ResizeMethod scale_and_translate",
    "ops": "segment_max segment_min segment_prod segment_sum",
    "profiler": (
        "annotate_function device_memory_profile export_profile_data ProfileData ProfileEvent "
        "ProfileLine ProfileOptions ProfilePlane ProfileSession register_subprocess "
        "save_device_memory_profile start_server start_trace StepTraceAnnotation stop_server "
        "stop_trace trace TraceAnnotation"
    ),
    "scipy": "cluster fft integrate interpolate linalg ndimage signal sparse special stats",
    "scipy.cluster.vq": "vq",
    "scipy.fft": "dct dctn idct idctn",
    "scipy.integrate": "trapezoid",
    "scipy.interpolate": "RegularGridInterpolator",
    "scipy.linalg": (
        "block_diag cho_factor cho_solve cholesky circulant companion convolution_matrix det "
        "dft eigh eigh_tridiagonal expm expm_frechet fiedler fiedler_companion funm hadamard "
        "hankel helmert hessenberg hilbert inv invhilbert invpascal leslie lu lu_factor "
        "lu_solve pascal polar qr qr_multiply rsf2csf schur solve solve_sylvester "
        "solve_triangular sqrtm svd toeplitz"
    ),
    "scipy.ndimage": "map_coordinates",
    "scipy.optimize": "minimize OptimizeResults",
    "scipy.signal": (
        "convolve convolve2d correlate correlate2d csd detrend fftconvolve istft stft welch"
    ),
    "scipy.sparse.linalg": "bicgstab cg gmres",
    "scipy.spatial.transform": "Rotation Slerp",
    "scipy.special": (
        "bernoulli bessel_jn beta betainc betaln boxcox boxcox1p comb dawsn digamma entr erf "
        "erfc erfcinv erfcx erfinv exp1 expi expit expn factorial fresnel gamma gammainc "
        "gammaincc gammaln gammasgn hyp1f1 hyp2f1 i0 i0e i1 i1e kl_div log_ndtr log_softmax "
        "loggamma logit logsumexp multigammaln ndtr ndtri owens_t poch polygamma rel_entr sici "
        "softmax spence sph_harm_y wofz xlog1py xlogy zeta"
    ),
    "scipy.stats": (
        "bernoulli beta betabinom binom cauchy chi2 dirichlet expon gamma gaussian_kde gennorm "
        "geom gumbel_l gumbel_r laplace logistic mode multinomial multivariate_normal nbinom "
        "norm pareto poisson rankdata sem t truncnorm uniform vonmises wrapcauchy"
    ),
    "scipy.stats.bernoulli": "cdf logpmf pmf ppf",
    "scipy.stats.beta": "cdf logcdf logpdf logsf pdf sf",
    "scipy.stats.betabinom": "logpmf pmf",
    "scipy.stats.binom": "logpmf pmf",
    "scipy.stats.cauchy": "cdf isf logcdf logpdf logsf pdf ppf sf",
    "scipy.stats.chi2": "cdf logcdf logpdf logsf pdf sf",
    "scipy.stats.dirichlet": "logpdf pdf",
    "scipy.stats.expon": "cdf logcdf logpdf logsf pdf ppf sf",
    "scipy.stats.gamma": "cdf logcdf logpdf logsf pdf sf",
    "scipy.stats.gennorm": "cdf logpdf pdf",
    "scipy.stats.geom": "logpmf pmf",
    "scipy.stats.gumbel_l": "cdf logcdf logpdf logsf pdf ppf sf",
    "scipy.stats.gumbel_r": "cdf logcdf logpdf logsf pdf ppf sf",
    "scipy.stats.laplace": "cdf logpdf pdf",
    "scipy.stats.logistic": "cdf isf logpdf pdf ppf sf",
    "scipy.stats.multinomial": "logpmf pmf",
    "scipy.stats.multivariate_normal": "logpdf pdf",
    "scipy.stats.nbinom": "logpmf pmf",
    "scipy.stats.norm": "cdf isf logcdf logpdf logsf pdf ppf sf",
    "scipy.stats.pareto": "cdf logcdf logpdf logsf pdf ppf sf",
    "scipy.stats.poisson": "cdf entropy logpmf pmf",
    "scipy.stats.t": "logpdf pdf",
    "scipy.stats.truncnorm": "cdf logcdf logpdf logsf pdf sf",
    "scipy.stats.uniform": "cdf logpdf pdf ppf",
    "scipy.stats.vonmises": "logpdf pdf",
    "scipy.stats.wrapcauchy": "logpdf pdf",
    "sharding": (
        "AbstractDevice AbstractMesh auto_axes AxisType explicit_axes get_abstract_mesh "
        "get_mesh make_single_device_sharding ManualAxisType Mesh NamedSharding no_collectives "
        "PartitionSpec reshard set_mesh Sharding SingleDeviceSharding UnreducedKind "
        "use_abstract_mesh"
    ),
    "stages": "ArgInfo Compiled CompilerOptions Lowered Traced Wrapped",
    "typing": "ArrayLike DTypeLike",
    "ad_checkpoint": "checkpoint_name checkpoint_policies print_saved_residuals",
    "experimental": "io_callback",
    "experimental.checkify": (
        "all_checks automatic_checks check check_error checkify debug_check div_checks Error "
        "ErrorCategory "
        "float_checks index_checks init_error nan_checks user_checks"
    ),
    "experimental.mesh_utils": "create_device_mesh",
    "experimental.ode": "odeint",
    "experimental.shard_map": "shard_map",
}


_OF_XLA = "it is of XLA's own profiles; `profiler.trace` writes what XProf opens"
_OF_JAX = "it is one of JAX's own primitives; `arrayport.explain` shows arrayport's"
_OF_TYPES = "it is of types with shardings, which are JAX's: specs and meshes divide arrays here"

_OF_EFFECTS = "it marks an effect in JAX's own programs; here a primitive says whether it has one"
_CHANGES = "arrays never change here, nor what holds them: carry a value, update it by .at"

# Names of JAX's that are not here on purpose.
REASONS: dict[str, str] = {
    "CompilerEffortLevel": "it tells XLA how long to compile",
    "Inline": "it tells XLA which calls to dissolve; every call is dissolved here that can be",
    "Ref": _CHANGES,
    "allow_f16_reductions": "sums of 16-bit floats add up in float32 here, so none is refused",
    "array_garbage_collection_guard": "nothing tells here who frees an array",
    "auto_pcast": "it is of types with shardings, which arrays do not have here",
    "debug.DebugEffect": _OF_EFFECTS,
    "debug.OrderedDebugEffect": _OF_EFFECTS,
    "distributed": "it joins the processes that JAX runs: call jax.distributed.initialize",
    "ds": "it cuts Refs, which are JAX's: use lax.dynamic_slice_in_dim",
    "empty_ref": _CHANGES,
    "export": "it writes XLA's programs: use jax.export on functions of JAX's arrays",
    "ffi": "it calls what is compiled for XLA: use pure_callback, or a Primitive with kernels",
    "free_ref": _CHANGES,
    "freeze": _CHANGES,
    "jax2tf_associative_scan_reductions": "it is of jax2tf, which makes TensorFlow's programs",
    "make_user_context": "it adds to the key of JAX's own caches",
    "memory": "it names the memories of JAX's devices; arrays live on a device here",
    "monitoring": "it listens to JAX's own events: jit(f).explain() and log_compiles tell of ours",
    "new_ref": _CHANGES,
    "ref": _CHANGES,
    "remove_size_one_mesh_axis_from_type": "it is of types with shardings, which are JAX's",
    "softmax_custom_jvp": "nn.softmax has one derivative here",
    "thread_guard": "it guards what several processes run together; here there is one",
    "custom_derivatives.custom_jvp_call_p": _OF_JAX,
    "custom_derivatives.custom_vjp_call_p": _OF_JAX,
    "custom_derivatives.remat_opt_p": _OF_JAX,
    "errors.InconclusiveDimensionOperation": "it is of sizes that are symbols; here they are ints",
    "profiler.ProfileData": _OF_XLA,
    "profiler.ProfileEvent": _OF_XLA,
    "profiler.ProfileLine": _OF_XLA,
    "profiler.ProfileOptions": "pass jax.profiler.ProfileOptions where JAX is to profile",
    "profiler.ProfilePlane": _OF_XLA,
    "profiler.ProfileSession": _OF_XLA,
    "profiler.export_profile_data": _OF_XLA,
    "profiler.register_subprocess": _OF_XLA,
    "profiler.start_server": "XLA's runtime serves profiles; `profiler.trace` writes them here",
    "profiler.stop_server": "XLA's runtime serves profiles; `profiler.trace` writes them here",
    "lax.psum_scatter_start": "it starts what XLA finishes later: use lax.psum_scatter",
    "random.random_gamma_p": _OF_JAX,
    "sharding.AbstractDevice": _OF_TYPES,
    "sharding.ManualAxisType": _OF_TYPES,
    "sharding.UnreducedKind": _OF_TYPES,
    "sharding.auto_axes": _OF_TYPES,
    "sharding.explicit_axes": _OF_TYPES,
    "sharding.no_collectives": "it binds XLA's partitioner, which alone adds collectives",
}


def known(module: str) -> list[str]:
    """The names of JAX's module of that name below `jax`; "" for `jax` itself."""
    return NAMES[module].split()


def absent(module: str, name: str) -> AttributeError:
    """The error for a name that a module here lacks; it says whether JAX's has it."""
    here = f"arrayport.{module}".rstrip(".")
    if name in known(module):
        theirs = f"jax.{module}".rstrip(".")
        reason = REASONS.get(f"{module}.{name}".lstrip("."))
        if reason:
            return AttributeError(f"{here} has no {name!r}, which {theirs} has: {reason}")
        return AttributeError(
            f"{here} has no {name!r} yet, which {theirs} has: `arrayport doctor --names` lists "
            "what is missing"
        )
    return AttributeError(f"module {here!r} has no attribute {name!r}")
