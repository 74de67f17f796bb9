// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Checks and measures the sharded sort-merge join. Device d has the d-th of equal parts of both
// tables.

#include "sharded_bench.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "sharded_sort_merge.h"

namespace gpujoin::bench {
namespace {

using sortmerge::JoinStatus;
using sortmerge::Shard;
using sortmerge::ShardedSortMerge;
using sortmerge::ShardTrace;

constexpr int RUNS = 5;
constexpr const char* SHARD_STEP_NAMES[sortmerge::SHARD_STEP_COUNT] = {
    "scatter_ms", "build_sort_ms", "probe_sort_ms", "merge_ms"};

template <typename Word>
__global__ void fillShard(Generator<Word> g, bool isBuild, uint64_t first, uint64_t rows,
                          Word* keys, Word* payloads) {
    uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
    for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < rows; i += stride) {
        uint64_t row = first + i;
        keys[i] = g.key(isBuild ? g.buildId(row) : g.probeId(row));
        payloads[i] = isBuild ? g.buildPayload(row) : g.probePayload(row);
    }
}

// First and last key of a result, and whether its keys are in ascending order.
template <typename Word>
__global__ void describeOrder(const Word* keys, uint64_t rows, int* isAscending) {
    uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
    for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i + 1 < rows; i += stride) {
        if (keys[i] > keys[i + 1]) {
            *isAscending = 0;
        }
    }
}

template <typename Word>
struct Part {
    uint64_t first;
    uint64_t rows;
    DeviceArray<Word> keys;
    DeviceArray<Word> payloads;

    Part(uint64_t tableRows, int device, int devices)
        : first(tableRows * device / devices),
          rows(tableRows * (device + 1) / devices - first),
          keys(rows),
          payloads(rows) {}
};

// What one device holds.
template <typename Word>
struct ShardMemory {
    int device;
    Part<Word> build;
    Part<Word> probe;
    Matches<Word> matches;
    DeviceArray<unsigned char> workspace;

    ShardMemory(const DataSpec& spec, uint64_t capacityRows, int device, int devices)
        : device(device),
          build(spec.buildRows, device, devices),
          probe(spec.probeRows, device, devices),
          matches(capacityRows, true),
          workspace(sortmerge::shardWorkspaceBytes<Word>({spec.buildRows, spec.probeRows},
                                                         static_cast<uint32_t>(devices))) {
        Generator<Word> g{spec};
        fillShard<<<FILL_BLOCKS, FILL_THREADS>>>(g, true, build.first, build.rows,
                                                 build.keys.data(), build.payloads.data());
        fillShard<<<FILL_BLOCKS, FILL_THREADS>>>(g, false, probe.first, probe.rows,
                                                 probe.keys.data(), probe.payloads.data());
        CUDA_CHECK(cudaDeviceSynchronize());
    }

    Shard<Word> shard() const {
        return {{build.keys.data(), build.payloads.data(), build.rows},
                {probe.keys.data(), probe.payloads.data(), probe.rows},
                matches.columns(),
                workspace.data(),
                workspace.lengthBytes()};
    }

    Word keyAt(uint64_t row) const {
        Word key;
        CUDA_CHECK(
            cudaMemcpy(&key, matches.columns().keys + row, sizeof(key), cudaMemcpyDeviceToHost));
        return key;
    }

    bool isAscending() const {
        DeviceArray<int> result(1);
        int value = 1;
        CUDA_CHECK(cudaMemcpy(result.data(), &value, sizeof(value), cudaMemcpyHostToDevice));
        describeOrder<<<FILL_BLOCKS, FILL_THREADS>>>(matches.columns().keys, matches.count(),
                                                     result.data());
        CUDA_CHECK(cudaMemcpy(&value, result.data(), sizeof(value), cudaMemcpyDeviceToHost));
        return value == 1;
    }
};

template <typename Word>
class ShardedRunner {
  public:
    ShardedRunner(ShardedSortMerge& join, const DataSpec& spec, uint64_t capacityRows, int devices)
        : join(join) {
        for (int d = 0; d < devices; d++) {
            CUDA_CHECK(cudaSetDevice(d));
            parts.emplace_back(new ShardMemory<Word>(spec, capacityRows, d, devices));
            shards.push_back(parts[d]->shard());
        }
    }
    ~ShardedRunner() {
        for (auto& part : parts) {
            CUDA_CHECK(cudaSetDevice(part->device));
            part.reset();
        }
        CUDA_CHECK(cudaSetDevice(0));
    }

    void poison() {
        for (const auto& part : parts) {
            CUDA_CHECK(cudaSetDevice(part->device));
            part->matches.poison();
            CUDA_CHECK(cudaDeviceSynchronize());
        }
    }

    // Returns the milliseconds from the call until all devices have finished.
    double run(const ShardTrace& trace = {}) {
        auto start = std::chrono::steady_clock::now();
        JoinStatus status = join.join(shards, trace);
        if (status != JoinStatus::OK) {
            std::fprintf(stderr, "The sharded join failed: %s.\n", resident::describe(status));
            std::exit(1);
        }
        CUDA_CHECK(join.await());
        std::chrono::duration<double, std::milli> elapsed =
            std::chrono::steady_clock::now() - start;
        return elapsed.count();
    }

    // Compares the rows and their order with what the generator knows.
    bool isCorrect(const Digest& expected) {
        Digest sum;
        unsigned long long counted = 0;
        bool isOrdered = true;
        Word last = std::numeric_limits<Word>::min();
        for (const auto& part : parts) {
            CUDA_CHECK(cudaSetDevice(part->device));
            uint64_t rows = part->matches.count();
            counted += rows;
            if (rows == 0) {
                continue;
            }
            if (rows > part->matches.columns().capacityRows) {
                std::printf("  result columns of device %d are too short\n", part->device);
                return false;
            }
            Digest digest = part->matches.digest();
            sum.count += digest.count;
            sum.sum += digest.sum;
            isOrdered &= part->isAscending() && part->keyAt(0) >= last;
            last = part->keyAt(rows - 1);
        }
        bool correct = sum == expected && counted == expected.count && isOrdered;
        if (!correct) {
            std::printf("  WRONG rows=%llu expected=%llu sum=%016llx expected=%016llx ordered=%d\n",
                        counted, expected.count, sum.sum, expected.sum, isOrdered);
        }
        return correct;
    }

    void printShares() {
        for (const auto& part : parts) {
            CUDA_CHECK(cudaSetDevice(part->device));
            std::printf("  device %d: matches=%llu\n", part->device,
                        (unsigned long long)part->matches.count());
        }
    }

  private:
    ShardedSortMerge& join;
    std::vector<std::unique_ptr<ShardMemory<Word>>> parts;
    std::vector<Shard<Word>> shards;
};

// Runs once more and adds the steps of the first device.
template <typename Word>
void addSteps(ShardedRunner<Word>& runner, ResultLine& line) {
    CUDA_CHECK(cudaSetDevice(0));
    Event start;
    Event ends[sortmerge::SHARD_STEP_COUNT];
    ShardTrace trace;
    trace.start = start.get();
    for (int i = 0; i < sortmerge::SHARD_STEP_COUNT; i++) {
        trace.stepEnds[i] = ends[i].get();
    }
    runner.run(trace);
    for (int i = 0; i < sortmerge::SHARD_STEP_COUNT; i++) {
        line.with(SHARD_STEP_NAMES[i], ends[i].millisecondsSince(i == 0 ? start : ends[i - 1]));
    }
}

template <typename Word>
Digest expectedOf(const DataSpec& spec) {
    CUDA_CHECK(cudaSetDevice(0));
    DeviceArray<Digest> digest(1);
    CUDA_CHECK(cudaMemset(digest.data(), 0, digest.lengthBytes()));
    expectMatches<<<FILL_BLOCKS, FILL_THREADS>>>(Generator<Word>{spec}, true, digest.data());
    return Tables<Word>::fetch(digest);
}

template <typename Word>
bool checkCase(ShardedSortMerge& join, const DataSpec& spec, int devices) {
    Digest expected = expectedOf<Word>(spec);
    ShardedRunner<Word> runner(join, spec, expected.count, devices);
    bool correct = true;
    for (int run = 0; run < 2; run++) {
        runner.poison();
        runner.run();
        correct &= runner.isCorrect(expected);
    }
    std::printf("%s %d devices %zu-bit %llu x %llu copies=%llu zipf=%.1f %s matches=%llu\n",
                correct ? "ok   " : "WRONG", devices, 8 * sizeof(Word),
                (unsigned long long)spec.buildRows, (unsigned long long)spec.probeRows,
                (unsigned long long)spec.copies, spec.zipf, nameOf(spec.domain), expected.count);
    std::fflush(stdout);
    return correct;
}

}  // namespace

int checkSharded(int devices) {
    std::vector<int> numbers;
    for (int d = 0; d < devices; d++) {
        numbers.push_back(d);
    }
    ShardedSortMerge join(numbers);
    int wrong = 0;
    uint64_t seed = 1;
    auto check = [&](uint64_t build, uint64_t probe, uint64_t copies, double zipf,
                     KeyDomain domain) {
        DataSpec spec;
        spec.buildRows = build;
        spec.probeRows = probe;
        spec.copies = copies;
        spec.zipf = zipf;
        spec.domain = domain;
        spec.seed = seed++;
        wrong += !checkCase<int32_t>(join, spec, devices);
        wrong += !checkCase<int64_t>(join, spec, devices);
    };
    const uint64_t sizes[][2] = {{0, 0}, {0, 1000},       {1, 1},
                                 {7, 3}, {300007, 99991}, {9000001, 20000003}};
    for (const auto& size : sizes) {
        for (KeyDomain domain : {KeyDomain::DENSE, KeyDomain::SPARSE, KeyDomain::ORDERED}) {
            check(size[0], size[1], 1, 0, domain);
            check(size[0], size[1], 3, 0, domain);
        }
    }
    check(5000000, 30000000, 1, 1.0, KeyDomain::DENSE);
    check(5000000, 30000000, 1, 1.5, KeyDomain::SPARSE);
    check(20000, 20000, 20000, 0, KeyDomain::DENSE);  // one key: all rows have one owner
    return wrong;
}

template <typename Word>
bool benchSharded(const BulkCase& measured, int devices) {
    std::vector<int> numbers(devices);
    std::iota(numbers.begin(), numbers.end(), 0);
    ShardedSortMerge join(numbers);
    const DataSpec& spec = measured.spec;
    Digest expected = expectedOf<Word>(spec);
    // Frequent keys go to one device, whose results must fit too.
    bool isSkewed = devices == 1 || spec.zipf > 0;
    uint64_t capacityRows = isSkewed ? expected.count : expected.count * 3 / (2 * devices) + 65536;
    ShardedRunner<Word> runner(join, spec, capacityRows, devices);
    runner.poison();
    runner.run();
    bool correct = runner.isCorrect(expected);
    std::vector<double> rounds;
    auto tuples = static_cast<double>(spec.buildRows + spec.probeRows);
    for (int run = 0; run < RUNS; run++) {
        rounds.push_back(tuples / runner.run() / 1e6);
    }
    correct &= runner.isCorrect(expected);
    runner.printShares();
    ResultLine line =
        bulkLine("sort-merge-sharded", measured, static_cast<size_t>(devices), 8 * sizeof(Word));
    line.rounds("Gtuples/s", rounds).checked(correct, expected.count, expected.sum);
    addSteps(runner, line);
    line.print();
    return correct;
}

template bool benchSharded<int32_t>(const BulkCase&, int);
template bool benchSharded<int64_t>(const BulkCase&, int);

}  // namespace gpujoin::bench
