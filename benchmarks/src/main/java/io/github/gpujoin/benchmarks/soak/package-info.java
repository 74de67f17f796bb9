/** An endless join under bounded memory, and the judgement whether its memory stays flat. */
package io.github.gpujoin.benchmarks.soak;
