#include "blocking_join.h"

#include <algorithm>
#include <chrono>

namespace gpujoin::bench {
namespace {

/** Milliseconds of work and of all that it enqueued, as its caller waits for it. */
template <class Work>
double timedMs(const Work& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    CUDA_CHECK(cudaDeviceSynchronize());
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
        .count();
}

void copy(std::int64_t* to, const std::int64_t* from, std::uint64_t rows) {
    CUDA_CHECK(cudaMemcpyAsync(to, from, rows * sizeof(std::int64_t), cudaMemcpyDefault));
}

}  // namespace

BlockingJoin::BlockingJoin(const BlockingSpec& spec)
    : spec_(spec),
      hostBuild_(spec.buildRows),
      hostProbe_(spec.sourceRows),
      hostBuildPayloads_(spec.sourceRows),
      hostProbePayloads_(spec.sourceRows),
      buildKeys_(spec.buildRows),
      buildPayloads_(spec.buildRows),
      probeKeys_(spec.chunkRows),
      probePayloads_(spec.chunkRows),
      matches_(spec.chunkRows, false),
      workspace_(resident::workspaceBytes<Word>(spec.buildRows, spec.chunkRows)) {
    generate();
}

void BlockingJoin::generate() {
    DataSpec data;
    data.buildRows = spec_.buildRows;
    data.probeRows = spec_.sourceRows;
    const Generator<Word> generator{data};
    fillBuild<<<kFillBlocks, kFillThreads>>>(generator, buildKeys_.data(), buildPayloads_.data());
    fillProbe<<<kFillBlocks, kFillThreads>>>(generator, probeKeys_.data(), probePayloads_.data());
    copy(hostBuild_.keys.data(), buildKeys_.data(), spec_.buildRows);
    copy(hostBuild_.payloads.data(), buildPayloads_.data(), spec_.buildRows);
    copy(hostProbe_.keys.data(), probeKeys_.data(), spec_.sourceRows);
    copy(hostProbe_.payloads.data(), probePayloads_.data(), spec_.sourceRows);
    DeviceArray<Digest> digest(1);
    CUDA_CHECK(cudaMemset(digest.data(), 0, digest.lengthBytes()));
    expectMatches<<<kFillBlocks, kFillThreads>>>(generator, false, digest.data());
    expectedOfSource_ = Tables<Word>::fetch(digest);
}

std::size_t BlockingJoin::deviceBytes() const {
    const std::uint64_t rows = spec_.buildRows + 2 * spec_.chunkRows;  // tables and result
    return rows * 2 * sizeof(Word) + workspace_.lengthBytes();
}

BlockingResult BlockingJoin::measure(std::uint64_t probeRows, int rounds) {
    const std::uint64_t times = probeRows / spec_.sourceRows;
    const Digest expected{expectedOfSource_.count * times, expectedOfSource_.sum * times};
    BlockingResult result;
    std::uint64_t count;
    run(probeRows, count, &result.digest);
    result.right = result.digest == expected;
    for (int round = 0; round < rounds; round++) {
        result.rounds.push_back(run(probeRows, count, nullptr));
        result.right &= count == expected.count;
    }
    return result;
}

/** One join; what reaches the host is read there if `digest` is not null. */
BlockingTimes BlockingJoin::run(std::uint64_t probeRows, std::uint64_t& matchCount,
                                Digest* digest) {
    BlockingTimes times;
    matchCount = 0;
    times.copyInMs += timedMs([&] { copyBuildIn(); });
    for (std::uint64_t first = 0; first < probeRows; first += spec_.chunkRows) {
        const std::uint64_t rows = std::min(spec_.chunkRows, probeRows - first);
        times.copyInMs += timedMs([&] { copyProbeIn(rows); });
        times.joinMs += timedMs([&] { join(rows); });
        const std::uint64_t count = matches_.count();
        matchCount += count;
        const std::uint64_t fits = std::min(count, spec_.chunkRows);
        for (std::uint64_t row = 0; row < fits; row += spec_.sourceRows) {
            const std::uint64_t part = std::min(spec_.sourceRows, fits - row);
            times.copyBackMs += timedMs([&] { copyResultBack(row, part); });
            if (digest != nullptr) {
                addHostResult(part, *digest);
            }
        }
    }
    return times;
}

void BlockingJoin::copyBuildIn() {
    copy(buildKeys_.data(), hostBuild_.keys.data(), spec_.buildRows);
    copy(buildPayloads_.data(), hostBuild_.payloads.data(), spec_.buildRows);
}

void BlockingJoin::copyProbeIn(std::uint64_t rows) {
    for (std::uint64_t row = 0; row < rows; row += spec_.sourceRows) {
        copy(probeKeys_.data() + row, hostProbe_.keys.data(), spec_.sourceRows);
        copy(probePayloads_.data() + row, hostProbe_.payloads.data(), spec_.sourceRows);
    }
}

void BlockingJoin::join(std::uint64_t rows) {
    const resident::TableView<Word> build{buildKeys_.data(), buildPayloads_.data(),
                                          spec_.buildRows};
    const resident::TableView<Word> probe{probeKeys_.data(), probePayloads_.data(), rows};
    const resident::JoinStatus status =
        resident::joinResident(build, probe, matches_.columns(), workspace_.data(),
                               workspace_.lengthBytes(), cudaStream_t{});
    if (status != resident::JoinStatus::OK) {
        std::fprintf(stderr, "the join was refused: status=%s\n", resident::describe(status));
        std::exit(1);
    }
}

void BlockingJoin::copyResultBack(std::uint64_t row, std::uint64_t rows) {
    copy(hostBuildPayloads_.data(), matches_.columns().buildPayloads + row, rows);
    copy(hostProbePayloads_.data(), matches_.columns().probePayloads + row, rows);
}

/** Reads what lies in host memory now, through its mapping. */
void BlockingJoin::addHostResult(std::uint64_t rows, Digest& digest) {
    DeviceArray<Digest> sum(1);
    DeviceArray<std::uint64_t> count(1);
    CUDA_CHECK(cudaMemset(sum.data(), 0, sum.lengthBytes()));
    CUDA_CHECK(cudaMemcpy(count.data(), &rows, sizeof(rows), cudaMemcpyHostToDevice));
    const resident::MatchColumns<Word> host{nullptr, hostBuildPayloads_.data(),
                                            hostProbePayloads_.data(), rows, count.data()};
    digestMatches<<<kFillBlocks, kFillThreads>>>(host, sum.data());
    const Digest part = Tables<Word>::fetch(sum);
    digest.count += part.count;
    digest.sum += part.sum;
}

}  // namespace gpujoin::bench
