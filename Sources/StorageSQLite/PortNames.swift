// SPDX-License-Identifier: Apache-2.0

import Storage

// GRDB has a Row and a Statement too; a file that imports both says these.
typealias PortRow = Row
typealias PortStatement = Statement
