/** Joining two CSV files. */
package io.github.gpujoin.examples.csv;
