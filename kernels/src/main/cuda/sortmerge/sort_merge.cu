// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// The image of the sort-merge join, whose kernels the host launches by name.

#include "sort_merge_kernels.cuh"
