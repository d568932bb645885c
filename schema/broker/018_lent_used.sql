-- SPDX-License-Identifier: Apache-2.0
-- Of a site, or of all: the lent slots that jobs of their consumers use. NULL in samples
-- of before.
ALTER TABLE sample ADD COLUMN lent_used INTEGER;
