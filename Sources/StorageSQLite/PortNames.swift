// SPDX-License-Identifier: Apache-2.0

import Storage

// GRDB also has a Row and a Statement. A file that imports both modules uses
// these names for ours.
typealias PortRow = Row
typealias PortStatement = Statement
