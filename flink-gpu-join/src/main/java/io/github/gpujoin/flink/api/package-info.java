// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The public API: builders of joins. Start with {@link io.github.gpujoin.flink.api.StarJoin},
 * {@link io.github.gpujoin.flink.api.PairJoin} for two streams of whole records, or {@link
 * io.github.gpujoin.flink.api.TableJoin}. Methods reject null arguments with a {@link
 * java.lang.NullPointerException} that names the parameter.
 */
package io.github.gpujoin.flink.api;
