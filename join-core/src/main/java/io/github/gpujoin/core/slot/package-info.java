// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Slots of chunks within a process. A reader owns a {@link io.github.gpujoin.core.slot.SlotPool};
 * writers of the same process seal chunks in its slots, and each release makes a slot free again.
 */
package io.github.gpujoin.core.slot;
