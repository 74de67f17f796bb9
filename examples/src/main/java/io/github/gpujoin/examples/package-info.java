/** The command lines of the examples. */
package io.github.gpujoin.examples;
