/** Tables of the star schema benchmark and of TPC-H, and generators of their files. */
package io.github.gpujoin.examples.data;
