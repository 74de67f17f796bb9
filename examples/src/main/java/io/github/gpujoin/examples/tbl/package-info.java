/** Pipe-separated {@code .tbl} files as dbgen and ssb-dbgen write them, read into chunks. */
package io.github.gpujoin.examples.tbl;
