import { serve } from "../../../threads/serve.ts";
import type { CompactTask } from "./job.ts";
import { compactPart } from "./job.ts";

serve((request) => ({ value: compactPart(request as CompactTask) }));
