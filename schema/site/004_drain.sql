-- SPDX-License-Identifier: Apache-2.0
-- A lease that an administrator of the federation drains: what the latest order says,
-- and its number. Numbers grow with each order about a lease.
ALTER TABLE book ADD COLUMN is_drained INTEGER NOT NULL DEFAULT 0
    CHECK (is_drained = 0 OR is_drained = 1);
ALTER TABLE book ADD COLUMN drain INTEGER NOT NULL DEFAULT 0 CHECK (drain >= 0);
