// One step of a Chebyshev series over row-major float32 panels [n, W], fused into one pass over the rows of a CSR matrix
// S (see retrieval/kernels/protocols.py for the formula). What bounds it is memory: so the gathered rows are prefetched,
// large arrays lie on 2 MB pages, and nothing is read or written twice.
//
// A column has the same bits in a panel of any width and with any number of threads: every sum runs over the entries of
// its row in their order, by explicit fused multiply-adds, and is split only at places that the matrix alone decides.
// Build with -ffp-contract=off, so that the compiler fuses nothing on its own, and without -ffast-math.

#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace {

// Entries that one float32 sum takes. Longer rows are summed in pieces of this length, which are then added in float64:
// so a hub neither keeps one thread busy while the others wait, nor loses digits.
constexpr std::int64_t kPiece = 64;
// Rows and entries of a block, the unit of work of a thread.
constexpr std::int64_t kBlock = 8192;
// Multiplications below which a step takes one thread: others would not be awake before it is done.
constexpr std::int64_t kSmall = 1 << 18;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kCacheLine = 64;

// Uninitialised memory, on 2 MB pages where it fills one and the system has them.
void* allocate(std::size_t bytes) {
  const std::size_t alignment = bytes >= kHugePage ? kHugePage : kCacheLine;
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment, std::max<std::size_t>(bytes, 1)) != 0) throw std::bad_alloc();
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  if (alignment == kHugePage) madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: ordinary pages do as well
#endif
  return memory;
}

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

template <class T>
using Buffer = std::unique_ptr<T[], Free>;

template <class T>
Buffer<T> copy_of(const T* source, std::int64_t count) {
  Buffer<T> copy(static_cast<T*>(allocate(static_cast<std::size_t>(count) * sizeof(T))));
  std::copy_n(source, count, copy.get());
  return copy;
}

struct Matrix {
  std::int64_t rows = 0, entries = 0;
  Buffer<std::int64_t> pointers;  // [rows + 1]
  Buffer<std::int32_t> columns;   // [entries]
  Buffer<float> values;           // [entries]
  std::vector<std::int64_t> first_row;    // of every block, and the number of rows
  std::vector<std::int64_t> first_piece;  // of every block, and the number of pieces
  std::vector<std::int64_t> piece;        // first entry of every piece of a row longer than kPiece
};

// Divide the rows into blocks of like work, and long rows into pieces.
void plan(Matrix& m) {
  std::int64_t work = kBlock;
  for (std::int64_t row = 0; row < m.rows; ++row) {
    const std::int64_t begin = m.pointers[row], length = m.pointers[row + 1] - begin;
    if (work >= kBlock) {
      m.first_row.push_back(row);
      m.first_piece.push_back(static_cast<std::int64_t>(m.piece.size()));
      work = 0;
    }
    if (length > kPiece)
      for (std::int64_t at = begin; at < begin + length; at += kPiece) m.piece.push_back(at);
    work += 1 + (length > kPiece ? length / kPiece : length);
  }
  m.first_row.push_back(m.rows);
  m.first_piece.push_back(static_cast<std::int64_t>(m.piece.size()));
}

struct Step {
  const Matrix* matrix;
  float* previous;            // [n, W]
  const float* current;       // [n, W]
  float* scores;              // [n, W]
  const float* coefficient;   // [W]
  const float* lead;          // [W] in the first step, else null
  const double* weights;      // [n] where norms are asked for, else null
  std::array<double, 4> mix;  // (a, c) of the two norms
  float* pieces;              // [pieces, W]
  double* norms;              // [blocks, 2, W]
};

// sum += S[row of these entries] current
template <int W>
[[gnu::always_inline]] inline void gather(const Matrix& m, const float* current, std::int64_t begin, std::int64_t end,
                                          float* __restrict__ sum) {
  constexpr std::int64_t ahead = W == 1 ? 48 : 12;
  for (std::int64_t j = begin; j < end; ++j) {
    if (j + ahead < m.entries) {
      const char* later = reinterpret_cast<const char*>(current + std::int64_t{m.columns[j + ahead]} * W);
      for (std::size_t byte = 0; byte < sizeof(float) * W; byte += kCacheLine) __builtin_prefetch(later + byte);
    }
    const float value = m.values[j];
    const float* row = current + std::int64_t{m.columns[j]} * W;
#pragma omp simd
    for (int b = 0; b < W; ++b) sum[b] = __builtin_fmaf(value, row[b], sum[b]);
  }
}

template <int W>
[[gnu::always_inline]] inline void sum_piece(const Step& s, std::int64_t number) {
  const std::int64_t begin = s.matrix->piece[number];
  const auto row_end = std::upper_bound(s.matrix->pointers.get(), s.matrix->pointers.get() + s.matrix->rows + 1, begin);
  float sum[W] = {};
  gather<W>(*s.matrix, s.current, begin, std::min(begin + kPiece, *row_end), sum);
  std::copy_n(sum, W, s.pieces + number * W);
}

template <int W>
[[gnu::always_inline]] inline void add_pieces(const Step& s, std::int64_t first, std::int64_t last, float* sum) {
  double total[W] = {};
  for (std::int64_t number = first; number < last; ++number)
    for (int b = 0; b < W; ++b) total[b] += s.pieces[number * W + b];
  for (int b = 0; b < W; ++b) sum[b] = static_cast<float>(total[b]);
}

template <int W>
[[gnu::always_inline]] inline void update_block(const Step& s, std::int64_t block) {
  const Matrix& m = *s.matrix;
  std::int64_t number = m.first_piece[block];
  double norms[2][W] = {};
  for (std::int64_t row = m.first_row[block]; row < m.first_row[block + 1]; ++row) {
    const std::int64_t begin = m.pointers[row], end = m.pointers[row + 1];
    float sum[W] = {};
    if (end - begin > kPiece) {
      const std::int64_t last = number + (end - begin + kPiece - 1) / kPiece;
      add_pieces<W>(s, number, last, sum);
      number = last;
    } else {
      gather<W>(m, s.current, begin, end, sum);
    }
    float* __restrict__ previous = s.previous + row * W;
    float* __restrict__ scores = s.scores + row * W;
    const float* __restrict__ current = s.current + row * W;
    if (s.lead != nullptr) {
#pragma omp simd
      for (int b = 0; b < W; ++b) scores[b] = __builtin_fmaf(s.coefficient[b], sum[b], s.lead[b] * current[b]);
    } else {
#pragma omp simd
      for (int b = 0; b < W; ++b) sum[b] = 2.0f * sum[b] - previous[b];
#pragma omp simd
      for (int b = 0; b < W; ++b) scores[b] = __builtin_fmaf(s.coefficient[b], sum[b], scores[b]);
    }
#pragma omp simd
    for (int b = 0; b < W; ++b) previous[b] = sum[b];
    if (s.weights != nullptr) {
      const double weight = s.weights[row];
      for (int which = 0; which < 2; ++which) {
        const double a = s.mix[2 * which], c = s.mix[2 * which + 1];
#pragma omp simd
        for (int b = 0; b < W; ++b) norms[which][b] += weight * std::fabs(a * sum[b] - c * current[b]);
      }
    }
  }
  if (s.weights != nullptr) std::copy_n(&norms[0][0], 2 * W, s.norms + block * 2 * W);
}

// The same code for the vectors of this and of older processors; which one runs is asked once, in `functions_for`.
#if defined(__x86_64__)
#define WIDE_VECTORS [[gnu::target("avx512f,avx512vl,avx512dq,avx2,fma")]]
#define VECTORS [[gnu::target("avx2,fma")]]
template <int W>
WIDE_VECTORS void sum_piece_wide(const Step& s, std::int64_t number) { sum_piece<W>(s, number); }
template <int W>
WIDE_VECTORS void update_block_wide(const Step& s, std::int64_t block) { update_block<W>(s, block); }
#else
#define VECTORS
#endif
template <int W>
VECTORS void sum_piece_plain(const Step& s, std::int64_t number) { sum_piece<W>(s, number); }
template <int W>
VECTORS void update_block_plain(const Step& s, std::int64_t block) { update_block<W>(s, block); }

struct Functions {
  void (*sum_piece)(const Step&, std::int64_t);
  void (*update_block)(const Step&, std::int64_t);
};

template <int W>
Functions functions() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
    return {sum_piece_wide<W>, update_block_wide<W>};
#endif
  return {sum_piece_plain<W>, update_block_plain<W>};
}

Functions functions_for(std::int64_t width) {
  switch (width) {
    case 1: return functions<1>();
    case 4: return functions<4>();
    case 8: return functions<8>();
    case 16: return functions<16>();
    case 32: return functions<32>();
    case 64: return functions<64>();
    default: throw std::invalid_argument("a panel has 1, 4, 8, 16, 32 or 64 columns, not " + std::to_string(width));
  }
}

// Empty where this processor can run the code.
std::string missing() {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
    return "this processor has no AVX2 with fused multiply-add";
#endif
  return "";
}

// Steps that take several threads take turns: they share one pool, and memory would not serve two of them faster.
std::mutex& turn() {
  static std::mutex mutex;
  return mutex;
}

void run(const Step& step, std::int64_t width, int threads) {
  const Functions call = functions_for(width);
  const auto pieces = static_cast<std::int64_t>(step.matrix->piece.size());
  const auto blocks = static_cast<std::int64_t>(step.matrix->first_row.size()) - 1;
  if ((step.matrix->entries + step.matrix->rows) * width < kSmall) threads = 1;
  threads = static_cast<int>(std::min<std::int64_t>(threads, std::max<std::int64_t>(blocks, 1)));
  if (threads <= 1) {
    for (std::int64_t i = 0; i < pieces; ++i) call.sum_piece(step, i);
    for (std::int64_t i = 0; i < blocks; ++i) call.update_block(step, i);
    return;
  }
  const std::lock_guard<std::mutex> lock(turn());
#pragma omp parallel num_threads(threads)
  {
#pragma omp for schedule(dynamic, 16)
    for (std::int64_t i = 0; i < pieces; ++i) call.sum_piece(step, i);
#pragma omp for schedule(dynamic, 1)
    for (std::int64_t i = 0; i < blocks; ++i) call.update_block(step, i);
  }
}

}  // namespace
