// SPDX-License-Identifier: Apache-2.0
#ifndef CSTOREKIT_H
#define CSTOREKIT_H
#endif
