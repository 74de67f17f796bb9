// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
// The image of the semi-join, whose kernels the host launches by name.

#include "semi_join_kernels.cuh"
