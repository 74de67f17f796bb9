/** Divides a build side among places with memory budgets, and the log where none has room. */
package io.github.gpujoin.hybrid;
