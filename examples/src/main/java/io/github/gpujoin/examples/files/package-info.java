/** Joining two files of rows: CSV, Avro containers or Parquet. */
package io.github.gpujoin.examples.files;
