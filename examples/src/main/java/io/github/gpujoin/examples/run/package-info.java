/** Running jobs from a command line: the cluster, progress, and what went wrong. */
package io.github.gpujoin.examples.run;
