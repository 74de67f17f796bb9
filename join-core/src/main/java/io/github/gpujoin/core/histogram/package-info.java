/** Row counts by radix partition. */
package io.github.gpujoin.core.histogram;
