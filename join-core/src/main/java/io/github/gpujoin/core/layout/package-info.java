/** Byte layouts: the chunk, its schema, and how hash bits are cut. */
package io.github.gpujoin.core.layout;
