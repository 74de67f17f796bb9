// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Host side of the semi-join for programs that use the CUDA runtime: enqueues the kernels.

#include "semi_join.h"

#include "semi_join_kernels.cuh"

namespace gpujoin::semijoin {
namespace {

template <typename Word>
using Kernel = void (*)(SemiJoinCall<Word>);

// The kernels for keys of one width.
template <typename Word>
struct Kernels;

#define GPUJOIN_SEMI_JOIN_NAMES(Word, Bits)                                               \
    template <>                                                                           \
    struct Kernels<Word> {                                                                \
        static constexpr Kernel<Word> PREPARE = gpujoin_semi_join_prepare_##Bits;         \
        static constexpr Kernel<Word> SELECT = gpujoin_semi_join_select_##Bits;           \
        static constexpr Kernel<Word> MEASURE = gpujoin_semi_join_measure_##Bits;         \
        static constexpr Kernel<Word> CLEAR = gpujoin_semi_join_clear_##Bits;             \
        static constexpr Kernel<Word> INSERT[] = {gpujoin_semi_join_insert_direct_##Bits, \
                                                  gpujoin_semi_join_insert_hash_##Bits};  \
        static constexpr Kernel<Word> REMOVE[] = {gpujoin_semi_join_remove_direct_##Bits, \
                                                  gpujoin_semi_join_remove_hash_##Bits};  \
        static constexpr Kernel<Word> EMIT[] = {gpujoin_semi_join_emit_direct_##Bits,     \
                                                gpujoin_semi_join_emit_hash_##Bits};      \
    };

GPUJOIN_SEMI_JOIN_NAMES(int32_t, 32)
GPUJOIN_SEMI_JOIN_NAMES(int64_t, 64)

template <typename Word>
void launch(Kernel<Word> kernel, const SemiJoinCall<Word>& call, int multiprocessors,
            cudaStream_t stream) {
    kernel<<<multiprocessors * call.blocksPerSm, call.threads, 0, stream>>>(call);
}

template <typename Word>
int keySetOf(const SemiJoinCall<Word>& call) {
    return call.keySet.kind == KeySetKind::DIRECT ? 0 : 1;
}

}  // namespace

template <typename Word>
void enqueueSelection(const SemiJoinCall<Word>& call, int multiprocessors, cudaStream_t stream) {
    launch(Kernels<Word>::PREPARE, call, multiprocessors, stream);
    bool selects = call.buildView().condition.isPresent();
    launch(selects ? Kernels<Word>::SELECT : Kernels<Word>::MEASURE, call, multiprocessors, stream);
}

template <typename Word>
void enqueueBuild(const SemiJoinCall<Word>& call, int multiprocessors, cudaStream_t stream) {
    launch(Kernels<Word>::CLEAR, call, multiprocessors, stream);
    launch(Kernels<Word>::INSERT[keySetOf(call)], call, multiprocessors, stream);
}

template <typename Word>
void enqueueProbe(const SemiJoinCall<Word>& call, int multiprocessors, cudaStream_t stream) {
    if (call.buildSide == Side::LEFT) {
        launch(Kernels<Word>::REMOVE[keySetOf(call)], call, multiprocessors, stream);
    }
}

template <typename Word>
void enqueueResult(const SemiJoinCall<Word>& call, int multiprocessors, cudaStream_t stream) {
    launch(Kernels<Word>::EMIT[keySetOf(call)], call, multiprocessors, stream);
}

#define GPUJOIN_SEMI_JOIN_STEPS(Word)                                             \
    template void enqueueSelection(const SemiJoinCall<Word>&, int, cudaStream_t); \
    template void enqueueBuild(const SemiJoinCall<Word>&, int, cudaStream_t);     \
    template void enqueueProbe(const SemiJoinCall<Word>&, int, cudaStream_t);     \
    template void enqueueResult(const SemiJoinCall<Word>&, int, cudaStream_t);

GPUJOIN_SEMI_JOIN_STEPS(int32_t)
GPUJOIN_SEMI_JOIN_STEPS(int64_t)

}  // namespace gpujoin::semijoin
