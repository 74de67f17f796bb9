/** Rings of slots between one writer and one reader, in one process or between two. */
package io.github.gpujoin.core.ring;
