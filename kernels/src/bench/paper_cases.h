// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Sizes and distributions of the papers' joins. Tables of more than resident::MAX_ROWS rows are left
// out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bulk_line.h"
#include "resident_join.h"

namespace gpujoin::bench {

struct PaperCase {
    BulkCase measured;
    int wordBits;
};

class PaperCases {
  public:
    explicit PaperCases(uint64_t devices) : devices(devices) {}

    std::vector<PaperCase> all() {
        addRui();
        addMaltenberger();
        addTalk();
        // Gao and Sakharnykh (ADMS 2021), section 8: 500 M rows of both tables on each device.
        add("gao-30-percent", 64, 500 * MILLION * devices, 500 * MILLION * devices,
            KeyDomain::SPARSE)
            .hitPercent = 30;
        return cases;
    }

  private:
    static constexpr uint64_t MILLION = 1000000;
    static constexpr uint64_t MEBI = uint64_t{1} << 20;

    // Rui and Tu (SSDBM 2017), figures 7 to 14: unique keys of 32 bits, shuffled.
    void addRui() {
        for (uint64_t rows : {1, 4, 16, 32, 64, 128}) {
            add("rui-fig-7-to-9", 32, rows * MEBI, rows * MEBI);
        }
        for (unsigned percent : {25u, 50u}) {
            add("rui-fig-10", 32, 64 * MEBI, 64 * MEBI).hitPercent = percent;
        }
        for (uint64_t copies : {2, 4, 16}) {
            add("rui-fig-10-to-12", 32, 64 * MEBI, 64 * MEBI).copies = copies;
        }
        for (double zipf : {0.25, 0.5, 0.75, 1.0}) {
            add("rui-fig-13", 32, 64 * MEBI, 64 * MEBI).zipf = zipf;
        }
        // The figure ends at 2560 M rows.
        for (uint64_t rows : {256, 512, 1024, 2048}) {
            add("rui-fig-14", 32, 256 * MEBI, rows * MEBI);
        }
    }

    // Maltenberger, Tolovski and Rabl (PVLDB 2025), table 2 and figure 16. Its factors of up to 20 are
    // for tables in host memory.
    void addMaltenberger() {
        for (uint64_t factor : {1, 2}) {
            add("maltenberger-a", 32, factor * 100 * MILLION, factor * 1000 * MILLION,
                KeyDomain::SPARSE);
        }
        for (uint64_t factor : {1, 2}) {
            add("maltenberger-b", 64, factor * 1000 * MILLION, factor * 1000 * MILLION,
                KeyDomain::SPARSE);
        }
        uint64_t rows = 500 * MILLION * (devices < 4 ? devices : 4);
        for (unsigned percent : {0u, 25u, 50u, 75u, 100u}) {
            add("maltenberger-selectivity", 64, rows, rows, KeyDomain::SPARSE).hitPercent = percent;
        }
        for (double zipf : {0.25, 0.5, 0.75, 1.0}) {
            add("maltenberger-skew", 64, rows, rows, KeyDomain::SPARSE).zipf = zipf;
        }
    }

    // NVIDIA's talk on joins on a DGX-2: a build table as large as the probe table.
    void addTalk() {
        for (unsigned percent : {0u, 1u, 10u, 30u, 60u, 100u}) {
            add("dgx-2-talk", 64, 335544320, 335544320, KeyDomain::SPARSE).hitPercent = percent;
        }
    }

    // Returns the case to vary. If it has too many rows, the returned one is not measured.
    DataSpec& add(const char* source, int wordBits, uint64_t buildRows, uint64_t probeRows,
                  KeyDomain domain = KeyDomain::DENSE) {
        PaperCase added;
        added.wordBits = wordBits;
        added.measured.source = source;
        DataSpec& spec = added.measured.spec;
        spec.buildRows = buildRows;
        spec.probeRows = probeRows;
        spec.domain = domain;
        bool isTooLarge = buildRows > resident::MAX_ROWS || probeRows > resident::MAX_ROWS;
        std::vector<PaperCase>& target = isTooLarge ? leftOut : cases;
        target.push_back(added);
        return target.back().measured.spec;
    }

    uint64_t devices;
    std::vector<PaperCase> cases;
    std::vector<PaperCase> leftOut;
};

// Returns the joins for so many devices.
inline std::vector<PaperCase> paperCases(uint64_t devices) { return PaperCases(devices).all(); }

}  // namespace gpujoin::bench
