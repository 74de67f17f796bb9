/** The contract every join engine fulfils. */
package io.github.gpujoin.core.engine;
