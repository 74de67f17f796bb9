// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The contract of joins whose inputs both go on, with changelogs on either side: the regular join
 * of SQL. A row probes the table of the other side and then changes the table of its own, after the
 * symmetric hash join of Wilschut and Apers, one chunk at a time.
 */
@NullMarked
package io.github.gpujoin.core.symmetric;

import org.jspecify.annotations.NullMarked;
