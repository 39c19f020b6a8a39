// SPDX-License-Identifier: Apache-2.0
#ifndef CSYNCCOUNTER_H
#define CSYNCCOUNTER_H
#endif
