/** The obvious join engine, the oracle of every test. */
package io.github.gpujoin.core.reference;
