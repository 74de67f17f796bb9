/**
 * Verbs over DiSNI. Its classes are defined by {@link
 * io.github.gpujoin.rdma.verbs.DisniClassLoader} only, and are used through the interfaces of
 * {@code verbs}.
 */
package io.github.gpujoin.rdma.verbs.disni;
