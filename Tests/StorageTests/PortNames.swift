// SPDX-License-Identifier: Apache-2.0

import Storage

// GRDB has a Statement too; a file that imports both says this.
typealias PortStatement = Statement
