// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The join operator of jobs in batch mode, which passes both inputs to a bulk join and emits its
 * results at the end. It has no state. Start with {@link
 * io.github.gpujoin.flink.runtime.bulk.BulkJoinOperator}.
 */
package io.github.gpujoin.flink.runtime.bulk;
