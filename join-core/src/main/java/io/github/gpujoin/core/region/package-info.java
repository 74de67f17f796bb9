/** Owned off-heap memory and raw access to it. */
package io.github.gpujoin.core.region;
