// A host in the place of a device: what generated CUDA C++ needs, one thread after the other.
// Threads that meet are fibers, each of which runs to where it waits for the others.
#define HOST
#include <math.h>
#include <string.h>
#include <ucontext.h>

struct Place { unsigned x, y; };
static Place threadIdx, blockIdx, gridDim;
#define __global__
#define __device__
#define __noinline__ __attribute__((noinline))
#define __shared__ static
#define __launch_bounds__(count)

const unsigned COUNT = 256, STACK = 1 << 16;
static ucontext_t scheduler, fibers[COUNT];
static char stacks[COUNT][STACK];
static bool ended[COUNT];
static void (*kernel)(void **);
static void **operands;

static void fiber() {
  kernel(operands);
  ended[threadIdx.x] = true;
}

static void launch(void (*function)(void **), void **args, unsigned x, unsigned y, bool meets) {
  kernel = function, operands = args, gridDim = {x, y};
  for (blockIdx.y = 0; blockIdx.y < y; ++blockIdx.y)
    for (blockIdx.x = 0; blockIdx.x < x; ++blockIdx.x) {
      if (!meets) {
        for (threadIdx.x = 0; threadIdx.x < COUNT; ++threadIdx.x) kernel(operands);
        continue;
      }
      for (unsigned t = 0; t < COUNT; ++t) {
        getcontext(&fibers[t]);
        fibers[t].uc_stack.ss_sp = stacks[t];
        fibers[t].uc_stack.ss_size = STACK;
        fibers[t].uc_link = &scheduler;
        makecontext(&fibers[t], fiber, 0);
        ended[t] = false;
      }
      for (bool going = true; going;) {
        going = false;
        for (threadIdx.x = 0; threadIdx.x < COUNT; ++threadIdx.x)
          if (!ended[threadIdx.x]) going = true, swapcontext(&scheduler, &fibers[threadIdx.x]);
      }
    }
}

static void __syncthreads() { swapcontext(&fibers[threadIdx.x], &scheduler); }

template <class T> static T __shfl_xor_sync(unsigned, T x, unsigned far) {
  static T slots[COUNT];
  slots[threadIdx.x] = x;
  __syncthreads();
  T other = slots[threadIdx.x ^ far];
  __syncthreads();
  return other;
}

template <class T, class U> static T bits(U x) {
  T y;
  memcpy(&y, &x, sizeof y);
  return y;
}
static int __float_as_int(float x) { return bits<int>(x); }
static unsigned __float_as_uint(float x) { return bits<unsigned>(x); }
static float __int_as_float(int x) { return bits<float>(x); }
static float __uint_as_float(unsigned x) { return bits<float>(x); }
static long long __double_as_longlong(double x) { return bits<long long>(x); }
static double __longlong_as_double(long long x) { return bits<double>(x); }
static int __clz(int x) { return x ? __builtin_clz(x) : 32; }
static int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
static int __popc(unsigned x) { return __builtin_popcount(x); }
static int __popcll(unsigned long long x) { return __builtin_popcountll(x); }

static float from_half(unsigned short h) {
  unsigned sign = (h & 0x8000u) << 16, rest = h & 0x7fffu;
  if (rest >= 0x7c00u) return bits<float>(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
  return bits<float>(sign | bits<unsigned>(bits<float>(rest << 13) * 0x1p112f));
}
static unsigned short to_half(float x) {
  unsigned word = bits<unsigned>(x), sign = word >> 16 & 0x8000u, rest = word & 0x7fffffffu;
  if (rest > 0x7f800000u) return sign | 0x7e00u;
  if (rest >= 0x477ff000u) return sign | 0x7c00u;  // rounds beyond the greatest
  if (rest < 0x38800000u)  // subnormal: the sum rounds where its last bit is
    return sign | (bits<unsigned>(bits<float>(rest) + 0.5f) - 0x3f000000u);
  return sign | ((rest + 0xfffu + (rest >> 13 & 1u) - 0x38000000u) >> 13);
}
