/** The queries of the star schema benchmark and of TPC-H as star joins. */
package io.github.gpujoin.examples.query;
