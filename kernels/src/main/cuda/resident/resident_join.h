#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

/*
 * Inner equi-join of two tables that lie in device memory, materialised in one pass.
 *
 * Radix partitioning by the key's hash (one or two passes through shared memory, each of which reads and
 * writes every row once) until a partition's build rows and their hash table fit one thread block's shared
 * memory; then each partition is joined there. No size or count travels to the host between the steps, so a
 * call only enqueues work on its stream.
 *
 * Method: Rui and Tu, "Fast Equi-Join Algorithms on GPUs: Design and Implementation" (SSDBM 2017), section
 * 3.2: multi-pass radix partitioning with block-wide histograms, single-pass output through an atomic
 * position, oversized partitions cut into pieces. Departures are written down where they are made.
 */
namespace gpujoin::resident {

/** Most rows of either table: positions inside the workspace are 32 bits wide. */
constexpr std::uint64_t kMaxRows = std::uint64_t{1} << 31;

/** Input columns begin at multiples of this many bytes: the bulk copy engine takes no others. */
constexpr std::size_t kColumnAlignmentBytes = 16;

/** Device columns of one table, `rows` words each. Word is std::int32_t or std::int64_t. */
template <class Word>
struct TableView {
    const Word* keys = nullptr;
    const Word* payloads = nullptr;
    std::uint64_t rows = 0;
};

/**
 * Device columns the matches go to, `capacityRows` words each, and the device counter of matches.
 *
 * The order of the rows is not specified. `keys` may be null where nobody wants the key. `matchCount` is
 * set by the call and is exact also when it exceeds `capacityRows`; the columns are complete only when it
 * does not.
 */
template <class Word>
struct MatchColumns {
    Word* keys = nullptr;
    Word* buildPayloads = nullptr;
    Word* probePayloads = nullptr;
    std::uint64_t capacityRows = 0;
    std::uint64_t* matchCount = nullptr;
};

enum class JoinStatus {
    OK,
    /**
     * A null pointer, a misaligned one (inputs by 16 bytes, outputs by their word, the workspace by 256), or rows
     * over kMaxRows.
     */
    INVALID_ARGUMENT,
    /** The workspace is shorter than workspaceBytes() says. */
    WORKSPACE_TOO_SMALL,
    /** The runtime refused a launch or an attribute; cudaPeekAtLastError() has its code. */
    LAUNCH_FAILED
};

/** What the call says in an exception's or a log's text. */
const char* describe(JoinStatus status);

/** Steps of a call, in the order in which they are enqueued; second passes are empty for small build tables. */
enum class JoinStep { BUILD_PASS_1, BUILD_PASS_2, PROBE_PASS_1, PROBE_PASS_2, JOIN };
constexpr int kJoinSteps = 5;

/** For measurements: an event to record at the end of each step; all null records nothing. */
struct JoinTrace {
    cudaEvent_t stepEnds[kJoinSteps] = {};
};

/**
 * Device memory the call needs beside its inputs and outputs, in bytes. Depends on the sizes alone: about 1.1
 * times both tables, and 1.1 times the larger one again where one radix pass is not enough (more than 1.3
 * million build rows).
 */
template <class Word>
std::size_t workspaceBytes(std::uint64_t buildRows, std::uint64_t probeRows);

/**
 * Enqueues the join of `build` and `probe` on `stream` and returns.
 *
 * All pointers are device memory of the current device; inputs, outputs and workspace do not overlap and stay
 * alive until the work is done. Any number of equal keys on either side is legal. The call allocates nothing,
 * waits for nothing and keeps nothing: it may be captured in a graph, and calls on different streams with
 * different workspaces may run at once. Errors of the work itself surface on the stream, as always in CUDA.
 */
template <class Word>
JoinStatus joinResident(const TableView<Word>& build, const TableView<Word>& probe,
                        const MatchColumns<Word>& matches, void* workspace,
                        std::size_t workspaceLengthBytes, cudaStream_t stream,
                        const JoinTrace& trace = {});

}  // namespace gpujoin::resident
