"""JAX's lax: operations that never promote dtypes by themselves, and control flow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arrayport.control.conditionals import cond as cond
from arrayport.control.conditionals import switch as switch
from arrayport.control.loops import fori_loop as fori_loop
from arrayport.control.loops import while_loop as while_loop
from arrayport.control.scanning import scan as scan
from arrayport.control.solves import custom_linear_solve as custom_linear_solve
from arrayport.control.solves import custom_root as custom_root
from arrayport.core.names import absent
from arrayport.lax import linalg as linalg
from arrayport.lax.elementwise import *
from arrayport.lax.generators import *
from arrayport.lax.hints import *
from arrayport.lax.maps import *
from arrayport.lax.modes import *
from arrayport.lax.monoids import *
from arrayport.lax.places import *
from arrayport.lax.products import *
from arrayport.lax.shapes import *
from arrayport.ops.bits import bitcast_convert_type as bitcast_convert_type
from arrayport.ops.bits import reduce_precision as reduce_precision
from arrayport.ops.convolution import ConvDimensionNumbers as ConvDimensionNumbers
from arrayport.ops.convolution import conv as conv
from arrayport.ops.convolution import conv_dimension_numbers as conv_dimension_numbers
from arrayport.ops.convolution import conv_general_dilated as conv_general_dilated
from arrayport.ops.convolution import conv_general_permutations as conv_general_permutations
from arrayport.ops.convolution import conv_general_shape_tuple as conv_general_shape_tuple
from arrayport.ops.convolution import conv_shape_tuple as conv_shape_tuple
from arrayport.ops.convolution import conv_transpose as conv_transpose
from arrayport.ops.convolution import conv_transpose_shape_tuple as conv_transpose_shape_tuple
from arrayport.ops.convolution import conv_with_general_padding as conv_with_general_padding
from arrayport.ops.convolution import padtype_to_pads as padtype_to_pads
from arrayport.ops.creation import broadcasted_iota as broadcasted_iota
from arrayport.ops.creation import full as full
from arrayport.ops.creation import iota as iota
from arrayport.ops.fft import FftType as FftType
from arrayport.ops.fft import fft as fft
from arrayport.ops.indexing import GatherDimensionNumbers as GatherDimensionNumbers
from arrayport.ops.indexing import ScatterDimensionNumbers as ScatterDimensionNumbers
from arrayport.ops.indexing import gather as gather
from arrayport.ops.indexing import scatter_add as scatter_add
from arrayport.ops.indexing import scatter_max as scatter_max
from arrayport.ops.indexing import scatter_min as scatter_min
from arrayport.ops.indexing import scatter_mul as scatter_mul
from arrayport.ops.indexing import scatter_set as scatter  # noqa: F401 - JAX's name
from arrayport.ops.indexing import scatter_sub as scatter_sub
from arrayport.ops.patches import conv_general_dilated_local as conv_general_dilated_local
from arrayport.ops.patches import conv_general_dilated_patches as conv_general_dilated_patches
from arrayport.ops.precisions import DotAlgorithm as DotAlgorithm
from arrayport.ops.precisions import DotAlgorithmPreset as DotAlgorithmPreset
from arrayport.ops.precisions import Precision as Precision
from arrayport.ops.precisions import PrecisionLike as PrecisionLike
from arrayport.ops.products import dot_general as dot_general
from arrayport.ops.reductions import argmax as argmax
from arrayport.ops.reductions import argmin as argmin
from arrayport.ops.reductions import cumlogsumexp as cumlogsumexp
from arrayport.ops.reductions import cummax as cummax
from arrayport.ops.reductions import cummin as cummin
from arrayport.ops.reductions import cumprod as cumprod
from arrayport.ops.reductions import cumsum as cumsum
from arrayport.ops.reductions import reduce_and as reduce_and
from arrayport.ops.reductions import reduce_max as reduce_max
from arrayport.ops.reductions import reduce_min as reduce_min
from arrayport.ops.reductions import reduce_or as reduce_or
from arrayport.ops.reductions import reduce_prod as reduce_prod
from arrayport.ops.reductions import reduce_xor as reduce_xor
from arrayport.ops.shapes import concatenate as concatenate
from arrayport.ops.shapes import expand_dims as expand_dims
from arrayport.ops.shapes import pad as pad
from arrayport.ops.shapes import split as split
from arrayport.ops.shapes import squeeze as squeeze
from arrayport.ops.shapes import stack as stack
from arrayport.ops.slices import index_in_dim as index_in_dim
from arrayport.ops.slices import slice as slice
from arrayport.ops.slices import slice_in_dim as slice_in_dim
from arrayport.ops.sorting import approx_max_k as approx_max_k
from arrayport.ops.sorting import approx_min_k as approx_min_k
from arrayport.ops.sorting import sort as sort
from arrayport.ops.sorting import sort_key_val as sort_key_val
from arrayport.ops.sorting import top_k as top_k
from arrayport.ops.windows import dynamic_index_in_dim as dynamic_index_in_dim
from arrayport.ops.windows import dynamic_slice as dynamic_slice
from arrayport.ops.windows import dynamic_slice_in_dim as dynamic_slice_in_dim
from arrayport.ops.windows import dynamic_update_index_in_dim as dynamic_update_index_in_dim
from arrayport.ops.windows import dynamic_update_slice as dynamic_update_slice
from arrayport.ops.windows import dynamic_update_slice_in_dim as dynamic_update_slice_in_dim
from arrayport.parallel.collectives import all_gather as all_gather
from arrayport.parallel.collectives import all_to_all as all_to_all
from arrayport.parallel.collectives import axis_index as axis_index
from arrayport.parallel.collectives import axis_size as axis_size
from arrayport.parallel.collectives import pbroadcast as pbroadcast
from arrayport.parallel.collectives import pcast as pcast
from arrayport.parallel.collectives import pmax as pmax
from arrayport.parallel.collectives import pmean as pmean
from arrayport.parallel.collectives import pmin as pmin
from arrayport.parallel.collectives import ppermute as ppermute
from arrayport.parallel.collectives import pshuffle as pshuffle
from arrayport.parallel.collectives import psum as psum
from arrayport.parallel.collectives import psum_scatter as psum_scatter
from arrayport.parallel.collectives import pswapaxes as pswapaxes
from arrayport.parallel.placement import with_sharding_constraint as with_sharding_constraint
from arrayport.parallel.ragged import ragged_all_to_all as ragged_all_to_all

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise absent("lax", name)
