// SPDX-License-Identifier: Apache-2.0
// zlib, which decompresses the pixels of a PNG.
#ifndef SHOPKEEPER_CZLIB_H
#define SHOPKEEPER_CZLIB_H

#include <zlib.h>

#endif
