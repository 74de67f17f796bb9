// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// The image of the repartitioned join, whose kernels the host launches by name.

#include "repartitioned_kernels.cuh"
