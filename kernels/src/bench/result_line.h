// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// Output of the benchmarks.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace gpujoin::bench {

// One measured case, for programs: RESULT name key=value key=value ...
//
// Values contain no spaces. `unit`, `rounds` (figures in the order of the runs, separated by
// commas), `check`, `count`, `checksum` and `bound` mean the same in all lines; every other key is
// a parameter of the case.
class ResultLine {
  public:
    explicit ResultLine(const char* name) : text(std::string("RESULT ") + name) {}

    ResultLine& with(const char* key, const std::string& value) {
        text += std::string(" ") + key + "=" + value;
        return *this;
    }
    ResultLine& with(const char* key, uint64_t value) { return with(key, std::to_string(value)); }
    ResultLine& with(const char* key, double value) { return with(key, formatted(value)); }
    ResultLine& rounds(const char* unit, const std::vector<double>& figures) {
        std::string list;
        for (double figure : figures) {
            list += (list.empty() ? "" : ",") + formatted(figure);
        }
        return with("unit", unit).with("rounds", list);
    }
    ResultLine& checked(bool correct, uint64_t count, uint64_t checksum) {
        return with("check", correct ? "ok" : "WRONG")
            .with("count", count)
            .with("checksum", checksum);
    }
    void print() const {
        std::printf("%s\n", text.c_str());
        std::fflush(stdout);
    }

  private:
    static std::string formatted(double value) {
        char digits[40];
        std::snprintf(digits, sizeof(digits), "%.6g", value);
        return digits;
    }

    std::string text;
};

}  // namespace gpujoin::bench
