/** What the GPU engine does on the machine at hand, beside what the machine itself does. */
package io.github.gpujoin.benchmarks.gpu;
