/**
 * The public API: builders of joins. Start with {@link io.github.gpujoin.flink.api.StarJoin},
 * {@link io.github.gpujoin.flink.api.PairJoin} for two streams of whole records, or {@link
 * io.github.gpujoin.flink.api.TableJoin}. Methods reject null arguments with a {@link
 * java.lang.NullPointerException} that names the parameter.
 */
package io.github.gpujoin.flink.api;
