import CryptoExtras
// SPDX-License-Identifier: Apache-2.0
import X509
