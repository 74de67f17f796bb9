/** Reading and writing CSV. */
package io.github.gpujoin.examples.csv;
