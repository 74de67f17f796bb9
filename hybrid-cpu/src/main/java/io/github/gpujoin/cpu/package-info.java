/** The CPU radix join engine. */
package io.github.gpujoin.cpu;
