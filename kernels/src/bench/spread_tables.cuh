// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Generated tables of which each member of a group holds a part, and the results of all members.
#pragma once

#include <memory>
#include <vector>

#include "repartitioned_join.h"
#include "tables.cuh"

namespace gpujoin::bench {

template <typename Word>
__global__ void fillPart(Generator<Word> g, bool isBuild, uint64_t first, uint64_t rows, Word* keys,
                         Word* payloads) {
    uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
    for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < rows; i += stride) {
        uint64_t row = first + i;
        keys[i] = g.key(isBuild ? g.buildId(row) : g.probeId(row));
        payloads[i] = isBuild ? g.buildPayload(row) : g.probePayload(row);
    }
}

// How the rows of a table are divided among the members.
enum class Split {
    EVEN,
    // Member 0 has nothing.
    FIRST_EMPTY,
    // Each member has about twice as many rows as the one before.
    DOUBLING
};

inline std::vector<uint64_t> partRows(uint64_t rows, size_t members, Split split) {
    std::vector<uint64_t> weights(members, 1);
    for (size_t n = 1; n < members && split == Split::DOUBLING; n++) {
        weights[n] = 2 * weights[n - 1];
    }
    if (split == Split::FIRST_EMPTY && members > 1) {
        weights[0] = 0;
    }
    uint64_t sum = 0;
    for (uint64_t weight : weights) {
        sum += weight;
    }
    std::vector<uint64_t> parts(members);
    uint64_t before = 0;
    uint64_t end = 0;
    for (size_t n = 0; n < members; n++) {
        before += weights[n];
        uint64_t next = rows / sum * before + rows % sum * before / sum;
        parts[n] = next - end;
        end = next;
    }
    return parts;
}

// A part of a table in the memory of the device that is current when it is made.
template <typename Word>
class TablePart {
  public:
    TablePart(const Generator<Word>& generator, bool isBuild, uint64_t first, uint64_t rows)
        : keys(rows), payloads(rows) {
        fillPart<<<FILL_BLOCKS, FILL_THREADS>>>(generator, isBuild, first, rows, keys.data(),
                                                payloads.data());
        CUDA_CHECK(cudaDeviceSynchronize());
    }

    resident::TableView<Word> view() const { return {keys.data(), payloads.data(), keys.count()}; }

  private:
    DeviceArray<Word> keys;
    DeviceArray<Word> payloads;
};

// Both tables spread over devices; members may share one.
template <typename Word>
class SpreadTables {
  public:
    SpreadTables(const DataSpec& spec, const std::vector<int>& devices, Split split)
        : generator{spec},
          devices(devices),
          buildRows(partRows(spec.buildRows, devices.size(), split)),
          probeRows(partRows(spec.probeRows, devices.size(), split)) {
        uint64_t build = 0;
        uint64_t probe = 0;
        for (size_t n = 0; n < devices.size(); n++) {
            CUDA_CHECK(cudaSetDevice(devices[n]));
            builds.push_back(
                std::make_unique<TablePart<Word>>(generator, true, build, buildRows[n]));
            probes.push_back(
                std::make_unique<TablePart<Word>>(generator, false, probe, probeRows[n]));
            build += buildRows[n];
            probe += probeRows[n];
        }
    }

    Digest expected() const {
        CUDA_CHECK(cudaSetDevice(devices[0]));
        DeviceArray<Digest> digest(1);
        CUDA_CHECK(cudaMemset(digest.data(), 0, digest.lengthBytes()));
        expectMatches<<<FILL_BLOCKS, FILL_THREADS>>>(generator, true, digest.data());
        return Tables<Word>::fetch(digest);
    }

    const DataSpec& spec() const { return generator.spec; }
    const std::vector<int>& memberDevices() const { return devices; }
    const std::vector<uint64_t>& buildParts() const { return buildRows; }
    const std::vector<uint64_t>& probeParts() const { return probeRows; }
    resident::TableView<Word> build(size_t n) const { return builds[n]->view(); }
    resident::TableView<Word> probe(size_t n) const { return probes[n]->view(); }

  private:
    Generator<Word> generator;
    std::vector<int> devices;
    std::vector<uint64_t> buildRows;
    std::vector<uint64_t> probeRows;
    std::vector<std::unique_ptr<TablePart<Word>>> builds;
    std::vector<std::unique_ptr<TablePart<Word>>> probes;
};

// The result columns of all members.
template <typename Word>
class SpreadMatches {
  public:
    SpreadMatches(const std::vector<int>& devices, uint64_t capacityRows) : devices(devices) {
        for (int device : devices) {
            CUDA_CHECK(cudaSetDevice(device));
            parts.push_back(std::make_unique<Matches<Word>>(capacityRows, true));
        }
    }

    const Matches<Word>& of(size_t n) const { return *parts[n]; }

    void poison() const {
        for (size_t n = 0; n < parts.size(); n++) {
            CUDA_CHECK(cudaSetDevice(devices[n]));
            parts[n]->poison();
            CUDA_CHECK(cudaDeviceSynchronize());
        }
    }

    Digest digest() const {
        Digest sum;
        for (size_t n = 0; n < parts.size(); n++) {
            CUDA_CHECK(cudaSetDevice(devices[n]));
            Digest part = parts[n]->digest();
            sum.count += part.count;
            sum.sum += part.sum;
        }
        return sum;
    }

    std::vector<uint64_t> counts() const {
        std::vector<uint64_t> counts;
        for (const auto& part : parts) {
            counts.push_back(part->count());
        }
        return counts;
    }

  private:
    std::vector<int> devices;
    std::vector<std::unique_ptr<Matches<Word>>> parts;
};

}  // namespace gpujoin::bench
