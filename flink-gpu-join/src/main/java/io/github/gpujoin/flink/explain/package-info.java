/** How a join will be run, and how it is: one record, shown before the run and at run time. */
package io.github.gpujoin.flink.explain;
