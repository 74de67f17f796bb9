/**
 * Test support of all modules, in the module's test jar. {@link
 * io.github.gpujoin.core.testing.RegionLeakExtension} fails tests that leave native memory open.
 */
package io.github.gpujoin.core.testing;
