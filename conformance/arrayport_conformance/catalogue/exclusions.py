"""Public callables without a row of the catalogue, each with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import metadata
from importlib.util import find_spec


def _for(reason: str, names: str) -> dict[str, str]:
    """Give many names one reason."""
    return dict.fromkeys(names.split(), reason)


EXCLUDED: Mapping[str, str] = {
    **_for(
        "a type or a dtype, not an operation: tests/core/test_dtypes.py",
        "numpy.bfloat16 numpy.bool numpy.bool_ numpy.cdouble numpy.character numpy.complex128 "
        "numpy.complex64 numpy.complex_ numpy.complexfloating numpy.csingle numpy.double "
        "numpy.dtype numpy.finfo numpy.flexible numpy.float16 numpy.float32 numpy.float4_e2m1fn "
        "numpy.float64 numpy.float6_e2m3fn numpy.float6_e3m2fn numpy.float8_e3m4 "
        "numpy.float8_e4m3 numpy.float8_e4m3b11fnuz numpy.float8_e4m3fn numpy.float8_e4m3fnuz "
        "numpy.float8_e5m2 numpy.float8_e5m2fnuz numpy.float8_e8m0fnu numpy.float_ numpy.floating "
        "numpy.generic numpy.iinfo numpy.inexact numpy.int1 numpy.int16 numpy.int2 numpy.int32 "
        "numpy.int4 numpy.int64 numpy.int8 numpy.int_ numpy.integer numpy.ndarray numpy.number "
        "numpy.object_ numpy.signedinteger numpy.single numpy.uint "
        "numpy.uint1 numpy.uint16 numpy.uint2 numpy.uint32 numpy.uint4 numpy.uint64 numpy.uint8 "
        "numpy.unsignedinteger",
    ),
    **_for(
        "it draws by rejection, as random.gamma does: tests/random/test_distributions.py",
        "random.ball random.beta random.binomial random.chisquare random.dirichlet random.f "
        "random.generalized_normal random.loggamma random.multinomial random.t",
    ),
    **_for("it solves what a function states: tests/experimental", "experimental.ode.odeint"),
    **_for(
        "it makes errors values: tests/experimental/test_checkify.py",
        "experimental.checkify.Error experimental.checkify.ErrorCategory "
        "experimental.checkify.check "
        "experimental.checkify.check_error experimental.checkify.checkify "
        "experimental.checkify.debug_check",
    ),
    **_for(
        "it takes or gives typed keys, which are no numbers: tests/random/test_keys.py",
        "random.Key random.clone random.key random.key_data random.key_dtype random.key_impl "
        "random.wrap_key_data",
    ),
    **_for(
        "it answers about dtypes or shapes, in Python: tests/core/test_dtypes.py",
        "numpy.broadcast_shapes numpy.can_cast numpy.iscomplexobj numpy.isdtype numpy.isrealobj "
        "numpy.einsum_path numpy.isscalar numpy.issubdtype numpy.iterable numpy.ndim "
        "numpy.promote_types numpy.result_type numpy.shape numpy.size",
    ),
    **_for(
        "it converts foreign memory: tests/test_contract.py",
        "dlpack.from_dlpack numpy.from_dlpack numpy.frombuffer",
    ),
    **_for(
        "it reads or writes files, text and iterators: tests/numpy/test_files.py",
        "numpy.fromfile numpy.fromiter numpy.fromstring numpy.load numpy.save numpy.savez",
    ),
    **_for(
        "it prints: tests/numpy/test_printing.py",
        "numpy.array_repr numpy.array_str numpy.get_printoptions numpy.printoptions "
        "numpy.set_printoptions",
    ),
    **_for("it gives places, of rows of the catalogue: tests/numpy", "numpy.mask_indices"),
    **_for(
        "a transformation: the laws are made of it, and tests/transforms and tests/control hold it",
        "checkpoint custom_jvp custom_vjp eval_shape grad hessian jacfwd jacobian jacrev jit jvp "
        "linearize make_jaxpr remat value_and_grad vjp vmap",
    ),
    **_for(
        "it calls Python from traced functions: tests/test_debug.py and tests/control",
        "debug.breakpoint debug.callback debug.log debug.print effects_barrier "
        "experimental.io_callback pure_callback",
    ),
    **_for(
        "it makes a function with rules of its own: tests/control",
        "ad_checkpoint.checkpoint_name ad_checkpoint.print_saved_residuals closure_convert "
        "custom_batching.custom_vmap custom_batching.sequential_vmap "
        "custom_derivatives.CustomVJPPrimal custom_derivatives.SymbolicZero "
        "custom_derivatives.linear_call "
        "custom_derivatives.closure_convert custom_derivatives.custom_gradient "
        "custom_derivatives.custom_jvp custom_derivatives.custom_vjp "
        "custom_derivatives.custom_vjp_primal_tree_values custom_derivatives.zero_from_primal "
        "custom_gradient fwd_and_bwd linear_transpose",
    ),
    **_for(
        "it looks at programs and what they do: tests/test_tools.py and tests/test_profiler.py",
        "check_tracer_leaks checking_leaks clear_caches debug_infs debug_nans default_device "
        "default_matmul_precision ensure_compile_time_eval explain_cache_misses live_arrays "
        "memory_report tracking_memory "
        "debug_key_reuse default_prng_impl enable_checks enable_custom_prng legacy_prng_key "
        "no_execution no_tracing threefry_partitionable "
        "log_compiles named_call named_scope numpy_dtype_promotion numpy_rank_promotion "
        "print_environment_info process_count process_index process_indices "
        "profiler.StepTraceAnnotation profiler.TraceAnnotation profiler.annotate_function "
        "profiler.device_memory_profile profiler.save_device_memory_profile "
        "profiler.start_trace profiler.stop_trace profiler.trace stages.ArgInfo "
        "stages.Compiled stages.CompilerOptions "
        "stages.Lowered stages.Traced stages.Wrapped transfer_guard typeof "
        "transfer_guard_device_to_device transfer_guard_device_to_host "
        "transfer_guard_host_to_device",
    ),
    **_for(
        "it meets the examples along a named axis: tests/parallel/test_collectives.py",
        "lax.all_gather lax.all_to_all lax.axis_index lax.axis_size lax.pbroadcast lax.pmax "
        "lax.pmean lax.pmin lax.ppermute lax.pshuffle lax.psum lax.psum_scatter lax.pswapaxes "
        "lax.ragged_all_to_all",
    ),
    **_for(
        "it lets gradients within shard_map be each place's own: tests/parallel/test_varying.py",
        "lax.pcast",
    ),
    **_for(
        "it says where arrays live or moves them: tests/test_contract.py and tests/numpy",
        "Array Device ShapeDtypeStruct agnostic block_until_ready copy_to_host_async "
        "default_backend device_count "
        "device_get device_put devices local_devices use_backend",
    ),
    **_for(
        "it maps a function over devices: tests/parallel/test_pmap.py, test_shard_map.py",
        "experimental.shard_map.shard_map pmap shard_map smap",
    ),
    **_for(
        "it divides arrays over devices, or describes it: tests/parallel/test_shardings.py",
        "NamedSharding P Shard experimental.mesh_utils.create_device_mesh get_abstract_mesh "
        "debug.inspect_array_sharding debug.visualize_array_sharding debug.visualize_sharding "
        "get_mesh host_count host_id host_ids lax.with_sharding_constraint local_device_count "
        "make_array_from_callback make_array_from_process_local_data "
        "make_array_from_single_device_arrays make_mesh reshard set_mesh sharding.AbstractMesh "
        "sharding.make_single_device_sharding "
        "sharding.AxisType sharding.Mesh sharding.NamedSharding sharding.PartitionSpec "
        "sharding.PositionalSharding sharding.Sharding sharding.SingleDeviceSharding "
        "sharding.get_abstract_mesh "
        "sharding.get_mesh sharding.reshard sharding.set_mesh sharding.use_abstract_mesh "
        "sharding.use_mesh use_abstract_mesh virtual_devices",
    ),
    **_for("it sets an option: tests/core/test_config.py", "disable_jit enable_x64"),
    **_for("it prints what is stated elsewhere: tests/test_contract.py", "contract explain"),
    **_for(
        "it works on trees, not on numbers: tests/core/test_tree.py",
        "tree_map tree.all tree.broadcast tree.flatten tree.flatten_with_path tree.leaves "
        "tree.leaves_with_path tree.map tree.map_with_path tree.reduce tree.reduce_associative "
        "tree.static tree.structure tree.transpose tree.unflatten tree_util.DictKey "
        "tree_util.FlattenedIndexKey tree_util.GetAttrKey tree_util.KeyEntry tree_util.KeyPath "
        "tree_util.Partial tree_util.PyTreeDef tree_util.SequenceKey tree_util.all_leaves "
        "tree_util.flatten_one_level tree_util.flatten_one_level_with_keys tree_util.is_tree_node "
        "tree_util.keystr tree_util.register_dataclass tree_util.register_pytree_node "
        "tree_util.register_pytree_node_class tree_util.register_pytree_with_keys "
        "tree_util.register_pytree_with_keys_class tree_util.register_static tree_util.tree_all "
        "tree_util.tree_broadcast tree_util.tree_flatten tree_util.tree_flatten_with_path "
        "tree_util.tree_leaves tree_util.tree_leaves_with_path tree_util.tree_map "
        "tree_util.tree_map_with_path tree_util.tree_reduce tree_util.tree_reduce_associative "
        "tree_util.tree_structure tree_util.tree_transpose tree_util.tree_unflatten "
        "tree_util.treedef_children tree_util.treedef_is_leaf tree_util.treedef_tuple",
    ),
    **_for(
        "it describes dimensions, in Python: tests/ops",
        "lax.AccuracyMode lax.ConvDimensionNumbers lax.DotAlgorithm lax.DotAlgorithmPreset "
        "lax.DotDimensionNumbers lax.GatherDimensionNumbers lax.GatherScatterMode lax.Precision "
        "image.ResizeMethod "
        "lax.RandomAlgorithm lax.RoundingMethod lax.ScatterDimensionNumbers lax.Tolerance "
        "lax.conv_general_permutations lax.conv_general_shape_tuple lax.conv_shape_tuple "
        "lax.conv_transpose_shape_tuple lax.reduce_window_shape_tuple lax.shape_as_value "
        "lax.broadcast_shapes lax.conv_dimension_numbers lax.dtype lax.padtype_to_pads",
    ),
    **_for(
        "it gives a flag beside an array: tests/scipy/test_linalg.py", "scipy.linalg.cho_factor"
    ),
    **_for(
        "it names ways of computing: tests/numpy/test_fft.py, tests/ops/test_spectra.py",
        "lax.FftType lax.linalg.EigImplementation lax.linalg.EighImplementation "
        "lax.linalg.SvdAlgorithm",
    ),
    **_for(
        "it solves by functions that it is given: tests/lax/test_solves.py",
        "lax.custom_linear_solve lax.custom_root",
    ),
    **_for(
        "JAX's name of what is about dtypes, trees or annotations, in Python: tests/test_faces.py",
        "dlpack.is_supported_dtype dtypes.bfloat16 dtypes.canonicalize_dtype dtypes.extended "
        "dtypes.finfo dtypes.prng_key "
        "dtypes.iinfo dtypes.issubdtype dtypes.itemsize_bits dtypes.result_type "
        "dtypes.scalar_type_of flatten_util.ravel_pytree",
    ),
    **_for(
        "its arguments belong together as no row says: tests/scipy/test_sparse.py and others there",
        "scipy.optimize.OptimizeResults scipy.optimize.minimize "
        "scipy.spatial.transform.Rotation scipy.spatial.transform.Slerp "
        "scipy.interpolate.RegularGridInterpolator scipy.sparse.linalg.bicgstab "
        "scipy.sparse.linalg.cg scipy.sparse.linalg.gmres",
    ),
    **_for(
        "its arguments belong together as no row says: tests/nn/test_attention.py",
        "lax.RaggedDotDimensionNumbers lax.ragged_dot lax.ragged_dot_general lax.scaled_dot "
        "nn.dot_product_attention nn.get_scaled_dot_general_config nn.scaled_dot_general "
        "nn.scaled_matmul",
    ),
    **_for(
        "only XLA has it: tests/nn/test_attention.py",
        "lax.rng_bit_generator lax.rng_uniform",
    ),
    **_for(
        "it tells a compiler what changes no value: tests/lax/test_hints.py",
        "lax.after_all lax.composite lax.create_token lax.dce_sink lax.platform_dependent "
        "lax.stage",
    ),
    **_for(
        "it makes a function of a random key, or is one: tests/nn/test_initializers.py",
        "nn.initializers.Initializer nn.initializers.orthogonal nn.initializers.delta_orthogonal "
        "nn.initializers.constant nn.initializers.glorot_normal "
        "nn.initializers.glorot_uniform nn.initializers.he_normal nn.initializers.he_uniform "
        "nn.initializers.kaiming_normal nn.initializers.kaiming_uniform "
        "nn.initializers.lecun_normal nn.initializers.lecun_uniform nn.initializers.normal "
        "nn.initializers.ones nn.initializers.truncated_normal nn.initializers.uniform "
        "nn.initializers.variance_scaling nn.initializers.xavier_normal "
        "nn.initializers.xavier_uniform nn.initializers.zeros",
    ),
    **_for(
        "it calls a function that it is given, of rows of the catalogue",
        "numpy.apply_over_axes numpy.fromfunction numpy.frompyfunc numpy.piecewise numpy.ufunc "
        "numpy.vectorize",
    ),
    **_for(
        "the same distribution as a row: tests/scipy/test_stats.py holds each against SciPy",
        "scipy.stats.bernoulli.cdf scipy.stats.bernoulli.pmf scipy.stats.bernoulli.ppf "
        "scipy.stats.beta.cdf scipy.stats.beta.logcdf scipy.stats.beta.logsf "
        "scipy.stats.beta.pdf scipy.stats.beta.sf scipy.stats.betabinom.pmf "
        "scipy.stats.binom.pmf scipy.stats.cauchy.isf scipy.stats.cauchy.logcdf "
        "scipy.stats.cauchy.logsf scipy.stats.cauchy.pdf scipy.stats.cauchy.sf "
        "scipy.stats.chi2.logcdf scipy.stats.chi2.logsf scipy.stats.chi2.pdf "
        "scipy.stats.chi2.sf scipy.stats.dirichlet.logpdf scipy.stats.dirichlet.pdf "
        "scipy.stats.expon.cdf scipy.stats.expon.logcdf scipy.stats.expon.pdf "
        "scipy.stats.expon.sf scipy.stats.gamma.logcdf scipy.stats.gamma.logsf "
        "scipy.stats.gamma.pdf scipy.stats.gamma.sf scipy.stats.gennorm.cdf "
        "scipy.stats.gennorm.pdf scipy.stats.geom.pmf scipy.stats.gumbel_l.logcdf "
        "scipy.stats.gumbel_l.logsf scipy.stats.gumbel_l.pdf scipy.stats.gumbel_l.ppf "
        "scipy.stats.gumbel_l.sf scipy.stats.gumbel_r.logcdf scipy.stats.gumbel_r.logsf "
        "scipy.stats.gumbel_r.pdf scipy.stats.gumbel_r.sf scipy.stats.laplace.pdf "
        "scipy.stats.logistic.isf scipy.stats.logistic.pdf scipy.stats.logistic.sf "
        "scipy.stats.multinomial.logpmf scipy.stats.multinomial.pmf "
        "scipy.stats.multivariate_normal.pdf scipy.stats.nbinom.pmf scipy.stats.norm.isf "
        "scipy.stats.norm.logcdf scipy.stats.norm.logsf scipy.stats.norm.pdf "
        "scipy.stats.norm.sf scipy.stats.pareto.cdf scipy.stats.pareto.logcdf "
        "scipy.stats.pareto.logsf scipy.stats.pareto.pdf scipy.stats.pareto.ppf "
        "scipy.stats.pareto.sf scipy.stats.poisson.cdf scipy.stats.poisson.pmf "
        "scipy.stats.t.pdf scipy.stats.truncnorm.cdf scipy.stats.truncnorm.logcdf "
        "scipy.stats.truncnorm.logsf scipy.stats.truncnorm.pdf scipy.stats.truncnorm.sf "
        "scipy.stats.uniform.cdf scipy.stats.uniform.pdf scipy.stats.uniform.ppf "
        "scipy.stats.vonmises.pdf scipy.stats.wrapcauchy.pdf",
    ),
    **_for("a density of a sample: tests/scipy/test_stats.py", "scipy.stats.gaussian_kde"),
}

# What JAX before 0.12 lacks, or computes otherwise: not compared where such a JAX is installed.
SINCE_0_12 = (
    [
        *("numpy.minmax", "numpy.top_k", "numpy.tri", "numpy.sign", "lax.sign"),
        *("random.exponential", "lax.log2", "lax.one_minus_square", "lax.polynomial"),
    ]
    if find_spec("jax") and tuple(map(int, metadata.version("jax").split(".")[:2])) < (0, 12)
    else []
)
NEWER = frozenset(SINCE_0_12)
