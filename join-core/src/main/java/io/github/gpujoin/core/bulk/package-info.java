// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The interface of joins of two bounded inputs, and the description of such a join. Start with
 * {@link io.github.gpujoin.core.bulk.BulkJoin}; {@link io.github.gpujoin.core.bulk.BulkJoinSpec}
 * describes what it joins, {@link io.github.gpujoin.core.bulk.BulkResult} what it returns.
 */
package io.github.gpujoin.core.bulk;
