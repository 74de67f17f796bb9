package io.github.gpujoin.benchmarks.skew;

import java.io.PrintWriter;

/** Engines by name. */
enum SkewEngines {
    AUTO {
        @Override
        SkewEngine open(OrdersStar star, int threads, PrintWriter notes) {
            return CPU.open(star, threads, notes);
        }
    },
    CPU {
        @Override
        SkewEngine open(OrdersStar star, int threads, PrintWriter notes) {
            return new CpuSkewEngine(star, threads);
        }
    };

    /**
     * @param notes takes a line where another engine is taken than one might expect
     */
    abstract SkewEngine open(OrdersStar star, int threads, PrintWriter notes);
}
