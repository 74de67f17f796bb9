/** Native libraries of others, loaded anew for each class loader. */
package io.github.gpujoin.core.natives;
