// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Phases of the blocking join: copy in, join, copy back.

#include "blocking_join.h"

#include <algorithm>
#include <chrono>

namespace gpujoin::bench {
namespace {

// Returns the milliseconds that the caller waits for the work and for everything it enqueued.
template <typename Work>
double timedMs(const Work& work) {
    auto start = std::chrono::steady_clock::now();
    work();
    CUDA_CHECK(cudaDeviceSynchronize());
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
        .count();
}

void copy(int64_t* to, const int64_t* from, uint64_t rows) {
    CUDA_CHECK(cudaMemcpyAsync(to, from, rows * sizeof(int64_t), cudaMemcpyDefault));
}

// For what the driver and the generator of the tables allocate.
constexpr size_t SPARE_BYTES = size_t{1} << 30;

}  // namespace

BlockingJoin::BlockingJoin(const BlockingSpec& spec)
    : joinSpec(spec),
      hostBuild(spec.buildRows),
      hostProbe(spec.sourceRows),
      hostBuildPayloads(spec.sourceRows),
      hostProbePayloads(spec.sourceRows),
      buildKeys(spec.buildRows),
      buildPayloads(spec.buildRows),
      probeKeys(spec.chunkRows),
      probePayloads(spec.chunkRows),
      matches(spec.chunkRows, false),
      workspace(resident::workspaceBytes<Word>(spec.buildRows, spec.chunkRows)) {
    generate();
}

void BlockingJoin::generate() {
    DataSpec data;
    data.buildRows = joinSpec.buildRows;
    data.probeRows = joinSpec.sourceRows;
    Generator<Word> generator{data};
    fillBuild<<<FILL_BLOCKS, FILL_THREADS>>>(generator, buildKeys.data(), buildPayloads.data());
    fillProbe<<<FILL_BLOCKS, FILL_THREADS>>>(generator, probeKeys.data(), probePayloads.data());
    copy(hostBuild.keys.data(), buildKeys.data(), joinSpec.buildRows);
    copy(hostBuild.payloads.data(), buildPayloads.data(), joinSpec.buildRows);
    copy(hostProbe.keys.data(), probeKeys.data(), joinSpec.sourceRows);
    copy(hostProbe.payloads.data(), probePayloads.data(), joinSpec.sourceRows);
    DeviceArray<Digest> digest(1);
    CUDA_CHECK(cudaMemset(digest.data(), 0, digest.lengthBytes()));
    expectMatches<<<FILL_BLOCKS, FILL_THREADS>>>(generator, false, digest.data());
    expectedOfSource = Tables<Word>::fetch(digest);
}

size_t BlockingJoin::deviceBytes(const BlockingSpec& spec) {
    uint64_t rows = spec.buildRows + 2 * spec.chunkRows;  // tables and result
    return rows * 2 * sizeof(Word) + resident::workspaceBytes<Word>(spec.buildRows, spec.chunkRows);
}

bool BlockingSpec::fitToDevice() {
    size_t freeBytes, totalBytes;
    CUDA_CHECK(cudaMemGetInfo(&freeBytes, &totalBytes));
    while (chunkRows > 0 && BlockingJoin::deviceBytes(*this) + SPARE_BYTES > freeBytes) {
        chunkRows -= sourceRows;
    }
    return chunkRows > 0;
}

BlockingResult BlockingJoin::measure(uint64_t probeRows, int rounds) {
    uint64_t times = probeRows / joinSpec.sourceRows;
    Digest expected{expectedOfSource.count * times, expectedOfSource.sum * times};
    BlockingResult result;
    uint64_t count;
    run(probeRows, count, &result.digest);
    result.correct = result.digest == expected;
    for (int round = 0; round < rounds; round++) {
        result.rounds.push_back(run(probeRows, count, nullptr));
        result.correct &= count == expected.count;
    }
    return result;
}

// Runs one join. If `digest` is not null, it reads the result in host memory.
BlockingTimes BlockingJoin::run(uint64_t probeRows, uint64_t& matchCount, Digest* digest) {
    BlockingTimes times;
    matchCount = 0;
    times.copyInMs += timedMs([&] { copyBuildIn(); });
    for (uint64_t first = 0; first < probeRows; first += joinSpec.chunkRows) {
        uint64_t rows = std::min(joinSpec.chunkRows, probeRows - first);
        times.copyInMs += timedMs([&] { copyProbeIn(rows); });
        times.joinMs += timedMs([&] { join(rows); });
        uint64_t count = matches.count();
        matchCount += count;
        uint64_t fits = std::min(count, joinSpec.chunkRows);
        for (uint64_t row = 0; row < fits; row += joinSpec.sourceRows) {
            uint64_t part = std::min(joinSpec.sourceRows, fits - row);
            times.copyBackMs += timedMs([&] { copyResultBack(row, part); });
            if (digest != nullptr) {
                addHostResult(part, *digest);
            }
        }
    }
    return times;
}

void BlockingJoin::copyBuildIn() {
    copy(buildKeys.data(), hostBuild.keys.data(), joinSpec.buildRows);
    copy(buildPayloads.data(), hostBuild.payloads.data(), joinSpec.buildRows);
}

void BlockingJoin::copyProbeIn(uint64_t rows) {
    for (uint64_t row = 0; row < rows; row += joinSpec.sourceRows) {
        copy(probeKeys.data() + row, hostProbe.keys.data(), joinSpec.sourceRows);
        copy(probePayloads.data() + row, hostProbe.payloads.data(), joinSpec.sourceRows);
    }
}

void BlockingJoin::join(uint64_t rows) {
    resident::TableView<Word> build{buildKeys.data(), buildPayloads.data(), joinSpec.buildRows};
    resident::TableView<Word> probe{probeKeys.data(), probePayloads.data(), rows};
    resident::JoinStatus status = resident::joinResident(
        build, probe, matches.columns(), workspace.data(), workspace.lengthBytes(), cudaStream_t{});
    if (status != resident::JoinStatus::OK) {
        std::fprintf(stderr, "The join failed: %s.\n", resident::describe(status));
        std::exit(1);
    }
}

void BlockingJoin::copyResultBack(uint64_t row, uint64_t rows) {
    copy(hostBuildPayloads.data(), matches.columns().buildPayloads + row, rows);
    copy(hostProbePayloads.data(), matches.columns().probePayloads + row, rows);
}

// Adds the result rows in host memory to the digest, through their mapping.
void BlockingJoin::addHostResult(uint64_t rows, Digest& digest) {
    DeviceArray<Digest> sum(1);
    DeviceArray<uint64_t> count(1);
    CUDA_CHECK(cudaMemset(sum.data(), 0, sum.lengthBytes()));
    CUDA_CHECK(cudaMemcpy(count.data(), &rows, sizeof(rows), cudaMemcpyHostToDevice));
    resident::MatchColumns<Word> host{nullptr, hostBuildPayloads.data(), hostProbePayloads.data(),
                                      rows, count.data()};
    digestMatches<<<FILL_BLOCKS, FILL_THREADS>>>(host, sum.data());
    Digest part = Tables<Word>::fetch(sum);
    digest.count += part.count;
    digest.sum += part.sum;
}

}  // namespace gpujoin::bench
