// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.skew;

import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.io.PrintWriter;

/** Engines by name. */
enum SkewEngines {
    AUTO {
        @Override
        SkewEngine open(OrdersStar star, int threads, PrintWriter notes) {
            try {
                return GPU.open(star, threads, notes);
            } catch (GpuUnavailableException e) {
                notes.println("The CPU joins: " + e.getMessage());
                return CPU.open(star, threads, notes);
            }
        }
    },
    GPU {
        @Override
        SkewEngine open(OrdersStar star, int threads, PrintWriter notes) {
            return new GpuSkewEngine(star);
        }
    },
    CPU {
        @Override
        SkewEngine open(OrdersStar star, int threads, PrintWriter notes) {
            return new CpuSkewEngine(star, threads);
        }
    };

    /**
     * @param threads of the CPU
     * @param notes takes a line where another engine is taken than one might expect
     * @throws GpuUnavailableException where there is no GPU for it
     */
    abstract SkewEngine open(OrdersStar star, int threads, PrintWriter notes);
}
